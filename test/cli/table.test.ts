/** Tables with any content fit the terminal. */
import { describe, expect, test } from 'bun:test';
import { cut, shortTime, table } from '@/cli/table.ts';
import { printable } from '@/cli/sanitize.ts';

const COLUMNS = [
  { title: 'ID', of: ({ id }: { id: string }) => id },
  { title: 'NAME', of: ({ name }: { name: string | null }) => name, isCut: true },
  { title: 'STATE', of: () => 'active' },
];
const rows = (items: { id: string; name: string | null }[], columns: number | null) =>
  table(COLUMNS, items, { columns }).split('\n').slice(0, -1);

describe('a table', () => {
  test('has columns as wide as their content, including wide characters', () => {
    expect(
      rows(
        [
          { id: '1', name: '山田太郎' },
          { id: '22', name: null },
        ],
        80,
      ),
    ).toEqual(['ID  NAME      STATE', '1   山田太郎  active', '22  -         active']);
  });

  test('is cut to the terminal’s width, except ids', () => {
    const lines = rows([{ id: 'usr_01kat1h5ppe3bv2d9g3wq5r1xm', name: '山田'.repeat(40) }], 60);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60);
    expect(lines[1]).toContain('usr_01kat1h5ppe3bv2d9g3wq5r1xm');
    expect(lines[1]).toContain('…');
  });

  test('is complete without a terminal', () => {
    const name = 'x'.repeat(500);
    expect(rows([{ id: '1', name }], null)[1]).toContain(name);
  });

  test('lets no name control the terminal or reverse text', () => {
    const [, line] = rows([{ id: '1', name: 'a\u001b[2J\u202eb\r\nc' }], 80);
    expect(line).toBe('1   a [2J b c  active');
    expect(printable('\u001b]0;title\u0007')).toBe(' ]0;title ');
  });

  test('cuts between grapheme clusters', () => {
    expect(cut('👩‍🚀👩‍🚀👩‍🚀', 5)).toBe('👩‍🚀👩‍🚀…');
    expect(cut('héllo', 5)).toBe('héllo');
  });
});

describe('a time', () => {
  const at = (text: string) => shortTime(text, Date.parse('2026-06-01T00:00:00Z'));
  test('is short and in this machine’s zone, with the year if it is distant', () => {
    expect(at('2026-05-31T10:00:00Z')).toMatch(/^31 May \d\d:00$/);
    expect(at('2024-05-31T10:00:00Z')).toBe('2024-05-31');
    expect(shortTime(null, 0)).toBeNull();
  });
});
