import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/client';
import { useResource } from '../api/useResource';
import { useSession } from '../api/session';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { Icon } from '../parts/Icon';
import { addressOf, filterLabels, filterNames, type FilterName, type Filters } from './filters';
import type { Schema } from './types';

const outcomes = ['answered', 'running', 'denied', 'invalid', 'timeout', 'too_large', 'rate_limited', 'interrupted', 'unavailable', 'not_found', 'internal'];

// FilterForm writes the filters into the address, so that a link shares what is seen.
export function FilterForm({ filters, schema }: { filters: Filters; schema?: Schema }) {
  const [, navigate] = useLocation();
  const [form, setForm] = useState(filters);
  const [open, setOpen] = useState(false);
  const key = JSON.stringify(filters);
  useEffect(() => setForm(filters), [key]);
  const reader = useSession().person.role !== 'underwriter';
  const people = useResource(reader ? 'people' : undefined, (signal) => api.get<{ people: { id: string; name: string }[] }>('/api/console/people', signal));
  const go = (f: Filters) => navigate(addressOf(f));
  const shown = filterNames.filter((n) => filters[n] && n !== 'text');
  const nameOf = (n: FilterName) => (n === 'person' ? (people.data?.people.find((p) => p.id === filters.person)?.name ?? filters.person) : filters[n]);
  const field = (n: FilterName, control: 'text' | 'date' | 'number' | string[] | { value: string; label: string }[]) => {
    const props = { value: form[n] ?? '', onChange: (e: { target: { value: string } }) => setForm({ ...form, [n]: e.target.value }) };
    return (
      <Field label={filterLabels[n]} key={n}>
        {Array.isArray(control) ? (
          <select {...props}>
            <option value="">any</option>
            {control.map((o) => (typeof o === 'string' ? <option key={o}>{o}</option> : <option key={o.value} value={o.value}>{o.label}</option>))}
          </select>
        ) : (
          <input type={control} min={control === 'number' ? 0 : undefined} {...props} />
        )}
      </Field>
    );
  };
  return (
    <form
      className="filters"
      role="search"
      aria-label="Statements"
      onSubmit={(e) => {
        e.preventDefault();
        setOpen(false);
        go(form);
      }}
    >
      <div className="filters-line">
        <input type="search" aria-label={filterLabels.text} placeholder="Text in the SQL" value={form.text ?? ''} onChange={(e) => setForm({ ...form, text: e.target.value })} />
        <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
          Filters
        </Button>
      </div>
      {open && (
        <div className="filters-grid">
          {reader && field('person', (people.data?.people ?? []).map((p) => ({ value: p.id, label: p.name })))}
          {field('relation', schema?.relations.map((r) => r.name) ?? [])}
          {field('column', 'text')}
          {field('decision', ['allowed', 'refused'])}
          {field('outcome', outcomes)}
          {field('rule', 'text')}
          {field('via', ['chat', 'console', 'reconcile', 'schedule', 'cli', 'token'])}
          {field('from', 'date')}
          {field('to', 'date')}
          {field('min_ms', 'number')}
          {field('max_ms', 'number')}
          {field('turn', 'text')}
          {field('conversation', 'text')}
          <div className="filters-actions">
            <Button kind="primary" small type="submit">
              Apply
            </Button>
            <Button small kind="quiet" onClick={() => go({})}>
              Clear
            </Button>
          </div>
        </div>
      )}
      {shown.length > 0 && (
        <ul className="chips" aria-label="Filters in force">
          {shown.map((n) => (
            <li key={n}>
              <button type="button" onClick={() => go({ ...filters, [n]: undefined })} aria-label={`Remove filter ${filterLabels[n]} ${nameOf(n)}`}>
                <span>
                  {filterLabels[n]}: {nameOf(n)}
                </span>
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
