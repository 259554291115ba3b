/** A column of a list. */
import type { ComponentChildren } from 'preact';

export interface Column<Item> {
  readonly key: string;
  readonly title: string;
  readonly render: (item: Item) => ComponentChildren;
  readonly isNumeric?: boolean;
  /** Dropped where the list is too narrow for all columns, the last one first. */
  readonly isExtra?: boolean;
}
