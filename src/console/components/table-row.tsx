/** A row of a list, rendered again only if something that it shows has changed. */
import { Component, type ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import type { Column } from './column.ts';

export interface TableRowProps<Item> {
  readonly tableId: string;
  readonly rowKey: string;
  readonly item: Item;
  /** Columns that are shown; the same array as long as they are the same. */
  readonly columns: readonly Column<Item>[];
  readonly href: string | undefined;
  readonly isOpen: boolean;
  /** Undefined if rows cannot be selected. */
  readonly isChosen: boolean | undefined;
  /** Position in the whole list for screen readers; set only if rows are left out. */
  readonly position: number | undefined;
  readonly menuOf: ((item: Item) => ComponentChildren) | undefined;
  /** Relative times are as old as the row: another minute renders it again with its table. */
  readonly minute: number;
  readonly onChoose: (key: string) => void;
}

export class TableRow<Item> extends Component<TableRowProps<Item>> {
  override shouldComponentUpdate(next: TableRowProps<Item>): boolean {
    return (Object.keys(next) as (keyof TableRowProps<Item>)[]).some((name) => next[name] !== this.props[name]);
  }

  override render() {
    const { tableId, rowKey, item, columns, href, isOpen, isChosen, position, menuOf, onChoose } = this.props;
    const nameId = `${tableId}-${rowKey}`;
    return (
      <tr data-key={rowKey} aria-current={isOpen ? 'true' : undefined} aria-rowindex={position}>
        {isChosen !== undefined && (
          <td class="choice">
            <label>
              <input type="checkbox" aria-labelledby={nameId} checked={isChosen} onChange={() => onChoose(rowKey)} />
            </label>
          </td>
        )}
        {columns.map(({ key, render, isNumeric }, index) => (
          <td key={key} id={index === 0 ? nameId : undefined} data-numeric={isNumeric ? '' : undefined}>
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
  }
}
