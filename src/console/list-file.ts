/** Builds a CSV or JSON file from a list, page by page. */
import { BYTE_ORDER_MARK, type CsvCell, csvOf } from '../core/csv.ts';
import { saveFile } from './save-file.ts';

export type FileFormat = 'csv' | 'json';

export type FileColumn<Item> = readonly [name: string, cellOf: (item: Item) => CsvCell];

export interface ListFile<Item> {
  count(): number;
  add(items: readonly Item[]): void;
  /** @param name without extension. */
  save(name: string): void;
}

/** @param columns columns of a CSV file; JSON holds the API's records. */
export function listFile<Item>(format: FileFormat, columns: readonly FileColumn<Item>[]): ListFile<Item> {
  const parts: string[] = [];
  let count = 0;
  const head = format === 'csv' ? BYTE_ORDER_MARK + csvOf([columns.map(([name]) => name)]) : '[\n';
  return {
    count: () => count,
    add(items) {
      if (items.length === 0) return;
      if (format === 'csv') parts.push(csvOf(items.map((item) => columns.map(([, cellOf]) => cellOf(item)))));
      else parts.push((count === 0 ? '' : ',\n') + items.map((item) => JSON.stringify(item)).join(',\n'));
      count += items.length;
    },
    save(name) {
      if (format === 'csv') saveFile(`${name}.csv`, 'text/csv;charset=utf-8', [head, ...parts]);
      else saveFile(`${name}.json`, 'application/json', [head, ...parts, '\n]\n']);
    },
  };
}
