/** Result of each import row, as a table and a file. */
import { Download } from 'lucide';
import { useState } from 'preact/hooks';
import { Icon } from '../../../pages/components/icon.tsx';
import { addresses, useFilters } from '../../address.ts';
import { Action } from '../../components/action.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { FilterFields } from '../../components/filters.tsx';
import { Status, type Tone } from '../../components/status.tsx';
import { count } from '../../components/format.ts';
import { saveCsv } from '../../save-file.ts';
import { listOf } from '../../data.ts';
import type { ImportRun, ReportOutcome, ReportRow } from './import-run.ts';

export const OUTCOMES: Readonly<Record<ReportOutcome, { readonly title: string; readonly tone: Tone }>> = {
  created: { title: 'Created', tone: 'good' },
  linked: { title: 'Linked', tone: 'good' },
  already_member: { title: 'Already here', tone: 'calm' },
  skipped: { title: 'Skipped', tone: 'warn' },
  not_sent: { title: 'Not sent', tone: 'bad' },
};

const PAGE = 200;

const COLUMNS: readonly Column<ReportRow>[] = [
  { key: 'email', title: 'E-mail', render: ({ email }) => <span dir="auto">{email || 'None'}</span> },
  { key: 'line', title: 'Row', render: ({ line }) => count(line), isNumeric: true, isExtra: true },
  {
    key: 'outcome',
    title: 'Outcome',
    render: ({ outcome }) => <Status tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].title}</Status>,
  },
  { key: 'why', title: 'Why', render: ({ why }) => why && <span title={why}>{why}</span> },
];

interface ReportProps {
  readonly applicationId: string;
  readonly run: ImportRun;
}

export function Report({ applicationId, run }: ReportProps) {
  const [filters, setFilters] = useFilters(['outcome']);
  const [shown, setShown] = useState(PAGE);
  const { counts, report } = run;
  const found = filters.outcome ? report.filter(({ outcome }) => outcome === filters.outcome) : report;
  const known = Object.entries(OUTCOMES).filter(([outcome]) => counts[outcome as ReportOutcome] > 0);
  return (
    <>
      <div class="toolbar">
        <FilterFields
          of={[
            {
              name: 'outcome',
              id: 'report-outcome',
              label: 'Outcome',
              any: `All ${count(report.length)} rows`,
              choices: known.map(([value, { title }]) => ({
                value,
                label: `${title} (${count(counts[value as ReportOutcome])})`,
              })),
            },
          ]}
          filters={filters}
          onChange={(change) => {
            setFilters(change);
            setShown(PAGE);
          }}
        />
        <span class="spacer" />
        <Action
          id="download-report"
          needs="nothing"
          icon={<Icon of={Download} size={16} />}
          onClick={() => saveReport(run)}
        >
          Download report
        </Action>
      </div>
      <DataTable
        id="report"
        label="Outcome of each row"
        list={listOf(found.slice(0, shown), {
          hasMore: found.length > shown,
          loadMore: async () => setShown(shown + PAGE),
        })}
        columns={COLUMNS}
        keyOf={({ line }) => String(line)}
        hrefOf={({ userId }) => (userId === null ? undefined : addresses.application(applicationId, 'users', userId))}
        empty={<Empty title="No row has this outcome" />}
      />
    </>
  );
}

function saveReport({ fileName, report }: ImportRun): void {
  saveCsv(`${fileName.replace(/\.[a-z]+$/i, '')}-report.csv`, [
    ['row', 'email', 'outcome', 'error', 'why', 'user_id'],
    ...report.map(({ line, email, outcome, error, why, userId }) => [line, email, outcome, error, why, userId]),
  ]);
}
