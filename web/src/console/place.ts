// charAt turns the server's place in a text, a 1-based byte offset of its UTF-8, into an index of the string.
export function charAt(text: string, place: number): number {
  let bytes = place - 1;
  let i = 0;
  for (const c of text) {
    if (bytes <= 0) break;
    const code = c.codePointAt(0)!;
    bytes -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    i += c.length;
  }
  return Math.min(i, text.length);
}

// wordAt is the end of the word, or the one sign, that begins at an index.
export function wordEnd(text: string, from: number): number {
  const word = /^[\p{L}\p{N}_$]+/u.exec(text.slice(from));
  return Math.min(text.length, from + (word ? word[0].length : 1));
}
