/** Finds the six-digit code in whatever was typed or pasted. */

export const CODE_LENGTH = 6;

const UNBROKEN = /(?:^|\D)(\d{6})(?!\d)/;
const GROUPED = /(?:^|\D)(\d{3}[\s\-–.·]\d{3})(?!\d)/;
const SPACED = /(?:^|\D)((?:\d[\s\-–.·]{1,2}){5}\d)(?!\d)/;

/** The code in a text: `123456`, `123 456`, `1-2-3-4-5-6`, or a sentence that holds one of them; null without one. */
export function extractCode(text: string): string | null {
  const normal = text.slice(0, 2_000).normalize('NFKC');
  for (const pattern of [UNBROKEN, GROUPED, SPACED]) {
    const match = pattern.exec(normal)?.[1];
    if (match) return match.replace(/\D/g, '');
  }
  return null;
}

/** What a half-typed code is so far: its digits, at most six. */
export function codeDigits(text: string): string {
  return extractCode(text) ?? text.normalize('NFKC').replace(/\D/g, '').slice(0, CODE_LENGTH);
}
