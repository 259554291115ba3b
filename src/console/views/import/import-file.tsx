/** Prepares an import: file selection, column mapping and checks. */
import { useMemo, useState } from 'preact/hooks';
import { Action } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { counted } from '../../components/format.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { candidatesOf } from './candidates.ts';
import { Check } from './check.tsx';
import { ColumnMapping } from './column-mapping.tsx';
import { DropZone } from './drop-zone.tsx';
import { guessMapping, type Mapping } from './fields.ts';
import { Preview } from './preview.tsx';
import type { Table } from './read-table.ts';

export function ImportFile({ application }: ApplicationViewProps) {
  const [table, setTable] = useState<Table | null>(null);
  const [mapping, setMapping] = useState<Mapping>([]);
  const candidates = useMemo(() => table && candidatesOf(table, mapping), [table, mapping]);

  if (!table || !candidates)
    return (
      <DropZone
        onRead={(read) => {
          setTable(read);
          setMapping(guessMapping(read));
        }}
      />
    );
  const leftOut = table.columns.filter((_, index) => !mapping[index]);
  const hasEmail = mapping.includes('email');
  return (
    <>
      <Panel
        id="import-columns"
        title={table.fileName}
        lead={`${counted(table.rows.length, 'row')} in ${counted(table.columns.length, 'column')}. Choose a field for each column; other columns are not sent.`}
        action={
          <Action id="other-file" needs="nothing" onClick={() => setTable(null)}>
            Choose another file
          </Action>
        }
      >
        {table.note && <p class="note warn">{table.note}</p>}
        <ColumnMapping table={table} mapping={mapping} onChange={setMapping} />
      </Panel>
      {hasEmail ? (
        <>
          <Preview candidates={candidates.all} />
          <Check
            key={mapping.join()}
            application={application}
            table={table}
            candidates={candidates}
            leftOut={leftOut}
          />
        </>
      ) : (
        <p class="note warn" id="no-email-column">
          No column is the e-mail address. Choose one: it identifies each person.
        </p>
      )}
    </>
  );
}
