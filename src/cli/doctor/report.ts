/** Formats findings for people in 80 columns: status mark, check name and message, with the remedy below. */
import { printable } from '../sanitize.ts';
import { wrapText } from '../wrap.ts';
import type { Finding, Status } from './finding.ts';

export interface ReportStyle {
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
}

const COLUMNS = 80;
const NAME = 12;
const MARKS: Readonly<Record<Status, { readonly mark: string; readonly word: string; readonly colour: number }>> = {
  ok: { mark: '✓', word: 'ok', colour: 32 },
  warn: { mark: '!', word: 'warn', colour: 33 },
  fail: { mark: '✗', word: 'FAIL', colour: 31 },
};

export function report(head: string, findings: readonly Finding[], { isTerminal, isColoured }: ReportStyle): string {
  const paint = (colour: number, text: string) => (isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text);
  const markWidth = isTerminal ? 1 : 4;
  const indent = ' '.repeat(2 + markWidth + 2 + NAME + 2);
  const lines: string[] = [];
  for (const { check, status, message, remedy } of findings) {
    const { mark, word, colour } = MARKS[status];
    const sign = paint(colour, (isTerminal ? mark : word).padEnd(markWidth));
    const [first = '', ...rest] = wrapText(printable(message), COLUMNS - indent.length);
    lines.push(`  ${sign}  ${check.padEnd(NAME)}  ${first}`, ...rest.map((line) => `${indent}${line}`));
    if (remedy === null) continue;
    const arrow = isTerminal ? '→ ' : '> ';
    const advice = wrapText(printable(remedy), COLUMNS - indent.length - arrow.length);
    lines.push(...advice.map((line, at) => paint(2, `${indent}${at === 0 ? arrow : '  '}${line}`)));
  }
  return [head, '', ...lines, '', summary(findings), ''].join('\n');
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length;
  const [fails, warns] = [count('fail'), count('warn')];
  if (fails === 0 && warns === 0) return 'No problem found.';
  const parts = [fails > 0 && `${fails} to fix now`, warns > 0 && `${warns} to check`, `${count('ok')} ok`].filter(
    (part) => part !== false,
  );
  return `${parts.join(', ')}.`;
}
