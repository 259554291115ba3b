/**
 * Table of a list: links, selection, row menus, endless scrolling, and the keys of row-keys.ts.
 *
 * Beyond a hundred rows only those near the viewport are in the document, so that 10,000 rows scroll and select like 50.
 * The browser's own search then finds only those, which is why lists have a search field; printing renders all.
 */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import type { Listed } from '../data.ts';
import type { Column } from './column.ts';
import { useColumnFit } from './column-fit.ts';
import { FailureNote } from './failure-note.tsx';
import { useReturnedList } from './returned-list.ts';
import { useRowKeys } from './row-keys.ts';
import { useRowWindow } from './row-window.ts';
import { TableRow } from './table-row.tsx';

export type { Column };

interface DataTableProps<Item> {
  readonly id: string;
  readonly label: string;
  readonly list: Listed<Item>;
  /** Should stay the same array, as well as `menuOf` the same function: a change renders every row again. */
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  /** Link of a row's first column, if any. */
  readonly hrefOf?: (item: Item) => string | undefined;
  readonly open?: string | null;
  /** Keys of the selected rows; absent if rows cannot be selected. */
  readonly chosen?: ReadonlySet<string>;
  readonly onChoose?: (chosen: ReadonlySet<string>) => void;
  readonly menuOf?: (item: Item) => ComponentChildren;
  readonly empty: ComponentChildren;
}

const MINUTE_MS = 60_000;
const NONE: readonly never[] = [];

export function DataTable<Item>(props: DataTableProps<Item>) {
  const { id, label, list, columns, keyOf, hrefOf, open = null, chosen, onChoose, menuOf, empty } = props;
  const { items, failure } = list;
  const frame = useRef<HTMLDivElement>(null);
  const table = useRef<HTMLTableElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  /** Key of the row that had the focus last. It stays in the document, so that the focus is not lost by scrolling. */
  const focused = useRef<string | null>(null);

  useReturnedList(id, list);
  const all = items ?? NONE;
  const isFailed = items === null && failure !== null;
  const isEmpty = items !== null && items.length === 0 && !list.hasMore;
  const pinned = [open, focused.current].map((key) =>
    key === null ? -1 : all.findIndex((item) => keyOf(item) === key),
  );
  const { slots, isWindowed } = useRowWindow(all.length, body, pinned);
  const { dropped, isTight, isCut, widths } = useColumnFit({
    frame,
    table,
    extraColumns: columns.filter(({ isExtra }) => isExtra).length,
    isShown: !isFailed && !isEmpty,
    isLoaded: all.length > 0,
    isFrozen: isWindowed,
  });
  const shown = useMemo(() => withoutExtras(columns, dropped), [columns, dropped]);

  const latest = useRef({ chosen, onChoose });
  latest.current = { chosen, onChoose };
  const choose = useCallback((key: string) => {
    const { chosen, onChoose } = latest.current;
    if (!chosen || !onChoose) return;
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    onChoose(next);
  }, []);
  useRowKeys(body, chosen && choose);

  if (isFailed) return <FailureNote failure={failure} onRetry={list.reload} />;
  if (isEmpty) return <>{empty}</>;

  const isAllChosen = chosen !== undefined && all.length > 0 && all.every((item) => chosen.has(keyOf(item)));
  const cells = shown.length + (chosen ? 1 : 0) + (menuOf ? 1 : 0);
  const widthAt = (index: number) => (widths?.length === cells ? { width: `${widths[index]}px` } : undefined);
  const minute = Math.floor(Date.now() / MINUTE_MS);
  return (
    <div
      class="table-frame list-frame"
      ref={frame}
      data-tight={isTight ? '' : undefined}
      data-cut={isCut ? '' : undefined}
    >
      <table
        id={id}
        ref={table}
        aria-label={label}
        aria-busy={items === null ? 'true' : undefined}
        aria-rowcount={isWindowed ? (list.hasMore ? -1 : all.length + 1) : undefined}
        data-frozen={widths?.length === cells ? '' : undefined}
      >
        <thead>
          <tr aria-rowindex={isWindowed ? 1 : undefined}>
            {chosen && (
              <th class="choice" style={widthAt(0)}>
                <label>
                  <input
                    type="checkbox"
                    aria-label="Choose all that are shown"
                    checked={isAllChosen}
                    onChange={() => onChoose?.(isAllChosen ? new Set() : new Set(all.map(keyOf)))}
                  />
                </label>
              </th>
            )}
            {shown.map(({ key, title, isNumeric }, index) => (
              <th
                key={key}
                scope="col"
                data-numeric={isNumeric ? '' : undefined}
                style={widthAt(index + (chosen ? 1 : 0))}
              >
                {title}
              </th>
            ))}
            {menuOf && (
              <th class="row-menu" style={widthAt(cells - 1)}>
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody
          ref={body}
          onFocusIn={({ target }) => {
            focused.current = (target as Element).closest('tr')?.dataset['key'] ?? null;
          }}
        >
          {items === null && (
            <SkeletonRows columns={shown.length} hasChoice={Boolean(chosen)} hasMenu={Boolean(menuOf)} />
          )}
          {slots.map((slot) => {
            if ('before' in slot) return <Gap key={`before ${slot.before}`} cells={cells} heightPx={slot.heightPx} />;
            const item = all[slot.index];
            if (item === undefined) return null;
            const key = keyOf(item);
            return (
              <TableRow<Item>
                key={key}
                tableId={id}
                rowKey={key}
                item={item}
                columns={shown}
                href={hrefOf?.(item)}
                isOpen={key === open}
                isChosen={chosen?.has(key)}
                position={isWindowed ? slot.index + 2 : undefined}
                menuOf={menuOf}
                minute={minute}
                onChoose={choose}
              />
            );
          })}
        </tbody>
      </table>
      {items !== null && <More list={list} />}
    </div>
  );
}

function withoutExtras<Item>(columns: readonly Column<Item>[], dropped: number): readonly Column<Item>[] {
  if (dropped === 0) return columns;
  const leaving = new Set(columns.filter(({ isExtra }) => isExtra).slice(-dropped));
  return columns.filter((column) => !leaving.has(column));
}

/** Takes the place of rows that are not rendered. */
function Gap({ cells, heightPx }: { readonly cells: number; readonly heightPx: number }) {
  return (
    <tr class="gap" aria-hidden="true">
      <td colSpan={cells} style={{ height: `${heightPx}px` }} />
    </tr>
  );
}

interface SkeletonRowsProps {
  readonly columns: number;
  readonly hasChoice: boolean;
  readonly hasMenu: boolean;
}

function SkeletonRows({ columns, hasChoice, hasMenu }: SkeletonRowsProps) {
  return (
    <>
      {Array.from({ length: 8 }, (_, index) => (
        <tr key={index} class="skeleton-row" aria-hidden="true">
          {hasChoice && <td class="choice" />}
          {Array.from({ length: columns }, (_, column) => (
            <td key={column}>
              <div class="skeleton" />
            </td>
          ))}
          {hasMenu && <td />}
        </tr>
      ))}
    </>
  );
}

/** Loads the next page when scrolled into view; the button is for keyboard use. */
function More<Item>({ list }: { readonly list: Listed<Item> }) {
  const end = useRef<HTMLButtonElement>(null);
  const { loadMore } = list;
  useEffect(() => {
    const element = end.current;
    if (!element) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void loadMore(), {
      rootMargin: '400px',
    });
    observer.observe(element);
    return () => observer.disconnect();
  });
  if (list.failure) return <FailureNote failure={list.failure} onRetry={list.hasMore ? list.loadMore : list.reload} />;
  if (!list.hasMore) return null;
  return (
    <button class="link more" type="button" ref={end} onClick={() => void loadMore()}>
      {list.isLoading ? 'Loading more…' : 'Show more'}
    </button>
  );
}
