/** The activity that the filters show as a file: read page by page, with how far it is and a way to stop. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../pages/components/button.tsx';
import { Dialog } from '../../../pages/components/dialog.tsx';
import type { Failure } from '../../api.ts';
import { ChooseOne } from '../../components/choices.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Progress } from '../../components/progress.tsx';
import { count, counted } from '../../components/words.ts';
import { BYTE_ORDER_MARK, csvOf, saveFile } from '../../csv.ts';
import { MAX_READ, readAll } from '../../read-all.ts';
import type { ActivityQuery } from './activity-filters.ts';
import { type AuthEvent, kindInWords, reasonInWords } from './kinds.ts';
import type { ActivitySource } from './source.ts';

interface ExportDialogProps {
  readonly source: ActivitySource;
  readonly query: ActivityQuery;
  readonly onClose: () => void;
}

type Format = 'csv' | 'json';

const FORMATS = [
  {
    value: 'csv',
    label: 'CSV',
    detail: 'For spreadsheets. What they would take for a formula begins with an apostrophe.',
  },
  { value: 'json', label: 'JSON', detail: 'The records as the API gives them.' },
] as const;

const PAGE = 200;

export function ExportDialog({ source, query, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<Format>('csv');
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
    const parts: string[] = [];
    let done = 0;
    const outcome = await readAll<AuthEvent>({
      load: (cursor) => source.list({ ...query, cursor, limit: PAGE }),
      onPage(items) {
        if (items.length > 0) parts.push(WRITERS[format].part(items, done === 0));
        done += items.length;
        setRead(done);
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
      const { name, type, start: head, end } = WRITERS[format];
      saveFile(`activity.${name}`, type, [head, ...parts, end]);
      const rest = outcome.end === 'full' ? ` There are more: a file holds ${count(MAX_READ)} at most.` : '';
      setEnded(`${counted(done, 'record')} saved.${rest}`);
    }
  }

  const isFiltered = Object.keys(query).length > 0;
  return (
    <Dialog id="export-dialog" title="Export activity" onClose={onClose}>
      <p class="lead">
        {isFiltered ? 'What the filters show' : 'All of the activity'}, newest first, up to {count(MAX_READ)} records.
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
          <Button onClick={onClose}>Close</Button>
        ) : read !== null ? (
          <Button id="stop-export" look="plain" onClick={() => stop.current?.abort()}>
            Stop
          </Button>
        ) : (
          <>
            <Button look="plain" onClick={onClose}>
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

const COLUMNS = [
  'createdAt',
  'what',
  'kind',
  'ok',
  'reason',
  'email',
  'userId',
  'actorType',
  'actorUserId',
  'actorApiKeyId',
  'applicationId',
  'targetId',
  'ip',
  'ipCountry',
  'requestId',
  'id',
  'detail',
] as const;

const cellsOf = (event: AuthEvent) =>
  COLUMNS.map((column) => {
    if (column === 'what') return kindInWords(event.kind);
    if (column === 'reason') return reasonInWords(event);
    if (column === 'detail') return event.detail && JSON.stringify(event.detail);
    return event[column];
  });

interface Writer {
  readonly name: string;
  readonly type: string;
  readonly start: string;
  readonly end: string;
  part(items: readonly AuthEvent[], isFirst: boolean): string;
}

const WRITERS: Record<Format, Writer> = {
  csv: {
    name: 'csv',
    type: 'text/csv',
    start: BYTE_ORDER_MARK + csvOf([COLUMNS]),
    end: '',
    part: (items) => csvOf(items.map(cellsOf)),
  },
  json: {
    name: 'json',
    type: 'application/json',
    start: '[\n',
    end: '\n]\n',
    part: (items, isFirst) => (isFirst ? '' : ',\n') + items.map((event) => JSON.stringify(event)).join(',\n'),
  },
};
