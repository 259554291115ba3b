/** Table of a list: links, selection, row menus, endless scrolling. Arrow keys move, Enter opens, space selects. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Listed } from '../data.ts';
import { FailureNote } from './failure-note.tsx';

export interface Column<Item> {
  readonly key: string;
  readonly title: string;
  readonly render: (item: Item) => ComponentChildren;
  readonly isNumeric?: boolean;
  /** Hidden next to an open detail and on narrow screens. */
  readonly isExtra?: boolean;
}

interface DataTableProps<Item> {
  readonly id: string;
  readonly label: string;
  readonly list: Listed<Item>;
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

export function DataTable<Item>(props: DataTableProps<Item>) {
  const { id, label, list, columns, keyOf, hrefOf, open = null, chosen, onChoose, menuOf, empty } = props;
  const { items, failure } = list;
  const body = useRef<HTMLTableSectionElement>(null);

  if (items === null && failure) return <FailureNote failure={failure} onRetry={list.reload} />;
  if (items !== null && items.length === 0 && !list.hasMore) return <>{empty}</>;

  function choose(key: string): void {
    if (!chosen || !onChoose) return;
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    onChoose(next);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const row = (event.target as HTMLElement).closest('tr');
    if (!row || event.target instanceof HTMLInputElement) return;
    const step =
      event.key === 'ArrowDown' ? 'nextElementSibling' : event.key === 'ArrowUp' ? 'previousElementSibling' : null;
    if (step) {
      const next = row[step]?.querySelector<HTMLElement>('a, button');
      if (!next) return;
      event.preventDefault();
      next.focus();
    } else if (event.key === ' ' && chosen && row.dataset['key'] && !(event.target instanceof HTMLButtonElement)) {
      event.preventDefault();
      choose(row.dataset['key']);
    }
  }

  const all = items ?? [];
  const isAllChosen = chosen !== undefined && all.length > 0 && all.every((item) => chosen.has(keyOf(item)));
  return (
    <div class="table-frame">
      <table id={id} aria-label={label} aria-busy={items === null ? 'true' : undefined}>
        <thead>
          <tr>
            {chosen && (
              <th class="choice">
                <input
                  type="checkbox"
                  aria-label="Choose all that are shown"
                  checked={isAllChosen}
                  onChange={() => onChoose?.(isAllChosen ? new Set() : new Set(all.map(keyOf)))}
                />
              </th>
            )}
            {columns.map(({ key, title, isNumeric, isExtra }) => (
              <th key={key} scope="col" data-numeric={isNumeric ? '' : undefined} data-extra={isExtra ? '' : undefined}>
                {title}
              </th>
            ))}
            {menuOf && (
              <th class="row-menu">
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onKeyDown}>
          {items === null
            ? Array.from({ length: 8 }, (_, index) => (
                <tr key={index} class="skeleton-row" aria-hidden="true">
                  {chosen && <td class="choice" />}
                  {columns.map(({ key, isExtra }) => (
                    <td key={key} data-extra={isExtra ? '' : undefined}>
                      <div class="skeleton" />
                    </td>
                  ))}
                  {menuOf && <td />}
                </tr>
              ))
            : items.map((item) => {
                const key = keyOf(item);
                const href = hrefOf?.(item);
                return (
                  <tr key={key} data-key={key} aria-current={key === open ? 'true' : undefined}>
                    {chosen && (
                      <td class="choice">
                        <input
                          type="checkbox"
                          aria-labelledby={`${id}-${key}`}
                          checked={chosen.has(key)}
                          onChange={() => choose(key)}
                        />
                      </td>
                    )}
                    {columns.map(({ key: column, render, isNumeric, isExtra }, index) => (
                      <td
                        key={column}
                        id={index === 0 ? `${id}-${key}` : undefined}
                        data-numeric={isNumeric ? '' : undefined}
                        data-extra={isExtra ? '' : undefined}
                      >
                        {index === 0 && href !== undefined ? (
                          <Link class="row-link" href={href}>
                            {render(item)}
                          </Link>
                        ) : (
                          render(item)
                        )}
                      </td>
                    ))}
                    {menuOf && <td class="row-menu">{menuOf(item)}</td>}
                  </tr>
                );
              })}
        </tbody>
      </table>
      {items !== null && <More list={list} />}
    </div>
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
