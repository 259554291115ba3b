import { BYTE_ORDER_MARK, type CsvCell, csvOf } from '../core/csv.ts';

export function saveFile(name: string, type: string, parts: BlobPart[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // Delayed, until the browser has started reading.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveCsv(name: string, rows: Iterable<readonly CsvCell[]>): void {
  saveFile(name, 'text/csv;charset=utf-8', [BYTE_ORDER_MARK, csvOf(rows)]);
}
