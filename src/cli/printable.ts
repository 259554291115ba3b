/** Makes untrusted text safe to print on a terminal. */

/** Characters that control a terminal, break lines or change text direction. */
const STEERING = '\\p{Cc}\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';
const ALL_STEERING = new RegExp(`[${STEERING}]+`, 'gu');
const EACH_STEERING = new RegExp(`(?!\\n)[${STEERING}]`, 'gu');

/** Replaces control characters with spaces: names, addresses and server messages are untrusted. */
export function printable(text: string): string {
  return text.replace(ALL_STEERING, ' ');
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Returns JSON with terminal control characters escaped; it parses to the same data. */
export function jsonText(data: unknown, indent?: number): string {
  const escape = (part: string) => `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(data, null, indent).replace(EACH_STEERING, escape);
}
