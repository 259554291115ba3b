/** Replaces line breaks, control characters and lone surrogates with spaces. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
