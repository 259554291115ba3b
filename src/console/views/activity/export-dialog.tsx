/** Exports the filtered activity to a file, with progress and a stop button. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../pages/components/button.tsx';
import { Dialog } from '../../../pages/components/dialog.tsx';
import type { Failure } from '../../api.ts';
import { ChooseOne } from '../../components/choices.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Progress } from '../../components/progress.tsx';
import { useCloseDialog } from '../../components/use-dialog.tsx';
import { count, counted } from '../../components/format.ts';
import { type FileColumn, type FileFormat, listFile } from '../../list-file.ts';
import { MAX_READ, readAll } from '../../read-all.ts';
import type { ActivityQuery } from './activity-filters.ts';
import { type AuthEvent, kindInWords, reasonOf } from './kinds.ts';
import type { ActivitySource } from './source.ts';

interface ExportDialogProps {
  readonly source: ActivitySource;
  readonly query: ActivityQuery;
}

const FORMATS = [
  {
    value: 'csv',
    label: 'CSV',
    detail: 'For spreadsheets. Cells that look like formulas begin with an apostrophe.',
  },
  { value: 'json', label: 'JSON', detail: 'The records as the API returns them.' },
] as const;

const PAGE = 200;

export function ExportDialog({ source, query }: ExportDialogProps) {
  const close = useCloseDialog();
  const [format, setFormat] = useState<FileFormat>('csv');
  const [read, setRead] = useState<number | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [ended, setEnded] = useState<string | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  async function start(): Promise<void> {
    setFailure(null);
    setRead(0);
    const stopping = new AbortController();
    stop.current = stopping;
    const file = listFile(format, COLUMNS);
    const outcome = await readAll<AuthEvent>({
      load: (cursor) => source.list({ ...query, cursor, limit: PAGE }),
      onPage(items) {
        file.add(items);
        setRead(file.count());
      },
      signal: stopping.signal,
    });
    stop.current = null;
    if (!outcome.ok) {
      setRead(null);
      setFailure(outcome);
    } else if (outcome.end === 'stopped') {
      setRead(null);
    } else {
      file.save('activity');
      const rest = outcome.end === 'full' ? ` There are more: a file holds at most ${count(MAX_READ)}.` : '';
      setEnded(`${counted(file.count(), 'record')} saved.${rest}`);
    }
  }

  const isFiltered = Object.keys(query).length > 0;
  return (
    <Dialog id="export-dialog" title="Export activity" onClose={close}>
      <p class="lead">
        {isFiltered ? 'The records that match the filters' : 'All activity'}, newest first, up to {count(MAX_READ)}{' '}
        records.
      </p>
      {ended !== null ? (
        <p role="status">{ended}</p>
      ) : read !== null ? (
        <Progress label="Reading records" done={read} total={null} />
      ) : (
        <ChooseOne id="format" label="Format" choices={FORMATS} chosen={format} onChange={setFormat} />
      )}
      {failure && <FailureNote failure={failure} />}
      <div class="dialog-actions">
        {ended !== null ? (
          <Button onClick={close}>Close</Button>
        ) : read !== null ? (
          <Button id="stop-export" look="plain" onClick={() => stop.current?.abort()}>
            Stop
          </Button>
        ) : (
          <>
            <Button look="plain" onClick={close}>
              Cancel
            </Button>
            <Button id="start-export" onClick={() => void start()}>
              Export
            </Button>
          </>
        )}
      </div>
    </Dialog>
  );
}

const AS_THEY_ARE = [
  'email',
  'userId',
  'userName',
  'actorType',
  'actorUserId',
  'actorApiKeyId',
  'actorName',
  'applicationId',
  'targetId',
  'targetName',
  'ip',
  'ipCountry',
  'requestId',
  'id',
] as const;

const COLUMNS: readonly FileColumn<AuthEvent>[] = [
  ['createdAt', ({ createdAt }) => createdAt],
  ['what', ({ kind }) => kindInWords(kind)],
  ['kind', ({ kind }) => kind],
  ['ok', ({ ok }) => ok],
  ['reason', reasonOf],
  ...AS_THEY_ARE.map((name): FileColumn<AuthEvent> => [name, (event) => event[name]]),
  ['detail', ({ detail }) => detail && JSON.stringify(detail)],
];
