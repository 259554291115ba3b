/** Assigns a user field to each column of a file. */
import type { ImportedField } from '../../../core/user-columns.ts';
import { Select } from '../../../pages/components/select-field.tsx';
import { FIELDS, type Mapping } from './fields.ts';
import type { Table } from './read-table.ts';

const SAMPLES = 3;

interface ColumnMappingProps {
  readonly table: Table;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

/** Assigning a field removes it from its previous column. */
export function ColumnMapping({ table, mapping, onChange }: ColumnMappingProps) {
  function choose(index: number, field: ImportedField | null): void {
    onChange(mapping.map((known, at) => (at === index ? field : known === field ? null : known)));
  }
  return (
    <div class="table-frame">
      <table id="columns" aria-label="Columns of the file">
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col" data-extra>
              First values
            </th>
            <th scope="col">Field</th>
          </tr>
        </thead>
        <tbody>
          {table.columns.map((column, index) => (
            <tr key={index} data-column={column}>
              <td dir="auto">{column}</td>
              <td class="muted" dir="auto" data-extra>
                {samplesOf(table, index)}
              </td>
              <td>
                <Select
                  label={`What ${column} becomes`}
                  none="Left out"
                  value={mapping[index] ?? ''}
                  choices={FIELDS.map(({ name, title }) => ({ value: name, label: title }))}
                  isSmall
                  onChoose={(value) => choose(index, value === '' ? null : (value as ImportedField))}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function samplesOf({ rows }: Table, index: number): string {
  const samples: string[] = [];
  for (const { cells } of rows.slice(0, 50)) {
    if (samples.length === SAMPLES) break;
    if (cells[index]) samples.push(cells[index]);
  }
  return samples.join(', ');
}
