/** Extracts a six-digit code from typed or pasted text. */

export const CODE_LENGTH = 6;

const UNBROKEN = /(?:^|\D)(\d{6})(?!\d)/;
const GROUPED = /(?:^|\D)(\d{3}[\s\-–.·]\d{3})(?!\d)/;
const SPACED = /(?:^|\D)((?:\d[\s\-–.·]{1,2}){5}\d)(?!\d)/;

/** Returns the code in `123456`, `123 456`, `1-2-3-4-5-6` or a sentence with one of these; null if there is none. */
export function extractCode(text: string): string | null {
  const normal = text.slice(0, 2_000).normalize('NFKC');
  for (const pattern of [UNBROKEN, GROUPED, SPACED]) {
    const match = pattern.exec(normal)?.[1];
    if (match) return match.replace(/\D/g, '');
  }
  return null;
}

/** Returns the code, or the digits typed so far, at most six. */
export function codeDigits(text: string): string {
  return extractCode(text) ?? text.normalize('NFKC').replace(/\D/g, '').slice(0, CODE_LENGTH);
}
