import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, completionStatus } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { PostgreSQL, schemaCompletionSource, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder, type DecorationSet } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { keywords, names, namespace } from './complete';
import { charAt, wordEnd } from './place';
import type { Schema } from './types';

const mark = StateEffect.define<{ from: number; to: number } | null>();

// refused is the place of the last refusal, until the text changes.
const refused = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, tr) {
    if (tr.docChanged) set = Decoration.none;
    for (const e of tr.effects) {
      if (e.is(mark)) set = e.value && e.value.to > e.value.from ? Decoration.set(Decoration.mark({ class: 'cm-refused' }).range(e.value.from, e.value.to)) : Decoration.none;
    }
    return set;
  },
  provide: (f) => EditorView.decorations.from(f),
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--ink-3)', fontStyle: 'italic' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--accent-soft)' },
  '.cm-placeholder': { color: 'var(--ink-3)' },
  '.cm-refused': { backgroundColor: 'var(--bad-soft)', textDecoration: 'underline wavy var(--bad)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line-2)', borderRadius: '5px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--accent-ink)' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8', fontStyle: 'normal' },
  '.cm-completionInfo': { maxWidth: '22rem' },
});

interface Props {
  text: string;
  round: number; // changes when text replaces what was written
  schema?: Schema;
  place?: number; // of a refusal: the server's 1-based byte offset
  onText: (text: string) => void;
  onRun: () => void;
  onCancel: () => void;
}

// Editor is for writing SQL. It stands in a shadow root, where its styles are style sheet objects: the page's policy lets no style element in.
export function Editor(p: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const language = useRef(new Compartment());
  const latest = useRef(p);
  latest.current = p;

  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          refused,
          theme,
          syntaxHighlighting(colours),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': 'SQL', spellcheck: 'false' }),
          placeholder('SELECT …'),
          language.current.of(sql({ dialect: PostgreSQL })),
          keymap.of([
            {
              key: 'Mod-Enter',
              run: (v) => {
                closeCompletion(v); // it would take the next Escape, which is to cancel
                latest.current.onRun();
                return true;
              },
            },
            {
              key: 'Escape',
              run: (v) => {
                if (completionStatus(v.state) === 'active') return closeCompletion(v);
                latest.current.onCancel();
                return true;
              },
            },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) latest.current.onText(u.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current!;
    if (editor.state.doc.toString() !== p.text) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: p.text } });
  }, [p.round]);

  useEffect(() => {
    if (!p.schema) return;
    const support = sql({ dialect: PostgreSQL }).language;
    view.current!.dispatch({
      effects: language.current.reconfigure([
        support,
        autocompletion({ override: [schemaCompletionSource({ dialect: PostgreSQL, schema: namespace(p.schema) }), names(p.schema), keywords], icons: false }),
      ]),
    });
  }, [p.schema]);

  useEffect(() => {
    const editor = view.current!;
    const text = editor.state.doc.toString();
    const from = p.place ? charAt(text, p.place) : 0;
    editor.dispatch({ effects: mark.of(p.place ? { from, to: wordEnd(text, from) } : null) });
  }, [p.place]);

  return <div ref={host} className="editor" />;
}
