/** Wraps text by display width. Keeps a word longer than the line whole, so that it can be copied. */
export function wrapText(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && Bun.stringWidth(line) + 1 + Bun.stringWidth(word) > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
