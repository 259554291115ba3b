/** Tables for people: columns as wide as what is in them and as the terminal allows, by what a terminal shows of a text. */
import { printable } from './printable.ts';

/** One column of a table. */
export interface Column<Item> {
  readonly title: string;
  readonly of: (item: Item) => string | number | null | undefined;
  /** It may be cut where there is little room; ids and what else is to be copied may not. */
  readonly isCut?: boolean;
}

const GAP = 2;
const NARROWEST = 8;

export interface TableLayout {
  /** Null where nobody looks: nothing is cut then. */
  readonly columns: number | null;
  readonly bold?: (text: string) => string;
}

/** Lines, each with its end. */
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

/** Takes from the widest that may be cut, until all fit or nothing more may be taken. */
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

/** At most so many cells of a terminal, with an ellipsis where something is missing. */
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

/** In this machine's zone: the hour of what is recent, the day of what is not. */
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
