/** Short list in a detail: loading, failed, empty, or its entries. */
import type { ComponentChildren } from 'preact';
import type { Listed } from '../data.ts';
import { FailureNote } from './failure-note.tsx';

interface EntriesProps<Item> {
  readonly id?: string;
  readonly list: Listed<Item>;
  readonly none: string;
  readonly keyOf: (item: Item) => string;
  readonly render: (item: Item) => ComponentChildren;
}

export function Entries<Item>({ id, list: { items, failure, reload }, none, keyOf, render }: EntriesProps<Item>) {
  return (
    <>
      {failure && <FailureNote failure={failure} onRetry={reload} />}
      {items === null && !failure && <div class="skeleton" aria-busy="true" />}
      {items?.length === 0 && <p class="muted">{none}</p>}
      {items !== null && items.length > 0 && (
        <ul class="entries" id={id}>
          {items.map((item) => (
            <li key={keyOf(item)}>{render(item)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
