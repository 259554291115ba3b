/** Text from strangers and servers, made fit for a terminal. */

/** What would steer a terminal, break its lines, or turn its text around. */
const STEERING = '\\p{Cc}\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';
const ALL_STEERING = new RegExp(`[${STEERING}]+`, 'gu');
const EACH_STEERING = new RegExp(`(?!\\n)[${STEERING}]`, 'gu');

/** Names and addresses come from strangers, and so does what a server says: what would steer a terminal is left out. */
export function printable(text: string): string {
  return text.replace(ALL_STEERING, ' ');
}

/** The same of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The same data as JSON that can be shown: what JSON takes as it is and a terminal does not is written as an escape. */
export function jsonText(data: unknown, indent?: number): string {
  const escape = (part: string) => `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(data, null, indent).replace(EACH_STEERING, escape);
}
