/** Formats tables for people, with columns sized by display width and fitted to the terminal. */
import { printable } from './sanitize.ts';

export interface Column<Item> {
  readonly title: string;
  readonly of: (item: Item) => string | number | null | undefined;
  /** Allows truncation when space is short. Ids and other text to copy must stay whole. */
  readonly isCut?: boolean;
}

const GAP = 2;
const NARROWEST = 8;

export interface TableLayout {
  /** Terminal width; null without a terminal, and then nothing is cut. */
  readonly columns: number | null;
  readonly bold?: (text: string) => string;
}

export function table<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  { columns: room, bold = (text) => text }: TableLayout,
): string {
  const cells = items.map((item) => columns.map(({ of }) => cell(of(item))));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((row) => Bun.stringWidth(row[at] ?? ''))),
  );
  if (room !== null) shrink(widths, columns, room);
  const line = (row: readonly string[]) =>
    row
      .map((text, at) => {
        const width = widths[at] ?? 0;
        const shown = cut(text, width);
        return at === row.length - 1 ? shown : shown + ' '.repeat(width - Bun.stringWidth(shown) + GAP);
      })
      .join('')
      .trimEnd();
  return [bold(line(columns.map(({ title }) => title))), ...cells.map(line)].map((text) => `${text}\n`).join('');
}

function cell(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === '' ? '-' : printable(String(value));
}

/** Narrows the widest truncatable column until the table fits or none is left to narrow. */
function shrink(widths: number[], columns: readonly Column<never>[], room: number): void {
  const excess = () => widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1)) - room;
  while (excess() > 0) {
    let widest = -1;
    for (const [at, width] of widths.entries())
      if (columns[at]?.isCut && width > NARROWEST && width > (widths[widest] ?? 0)) widest = at;
    if (widest === -1) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** Cuts text to a display width in terminal cells, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let shown = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const cells = Bun.stringWidth(segment);
    if (used + cells > width - 1) break;
    shown += segment;
    used += cells;
  }
  return `${shown}…`;
}

/** Formats in this machine's time zone: date and hour within 300 days, the day otherwise. */
export function shortTime(iso: string | null | undefined, now: number): string | null {
  if (!iso) return null;
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  const hour = `${two(time.getHours())}:${two(time.getMinutes())}`;
  const isNear = Math.abs(time.getTime() - now) < 300 * 24 * 3600_000;
  if (!isNear) return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${two(time.getDate())} ${MONTHS[time.getMonth()]} ${hour}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
