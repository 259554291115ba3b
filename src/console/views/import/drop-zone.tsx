/** Drop zone for an import file, with the accepted formats. */
import { FileUp } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../../../pages/components/icon.tsx';
import { Action } from '../../components/action.tsx';
import { count } from '../../components/format.ts';
import { useFileDrop } from '../../components/use-file-drop.ts';
import { saveCsv } from '../../save-file.ts';
import { useRights } from '../../console-context.tsx';
import { MAX_MEBIBYTES, MAX_ROWS, readTable, type Table, UnreadableFile } from './read-table.ts';

export function DropZone({ onRead }: { readonly onRead: (table: Table) => void }) {
  const { whyNot } = useRights();
  const chooser = useRef<HTMLInputElement>(null);
  const [isReading, setIsReading] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function read(file: File | undefined): Promise<void> {
    if (!file) return;
    setProblem(null);
    setIsReading(true);
    try {
      onRead(await readTable(file));
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      setProblem(error.message);
    } finally {
      setIsReading(false);
    }
  }

  const dropped = useFileDrop((file) => void read(file));
  return (
    <>
      <div class="drop-zone" id="drop-zone" aria-busy={isReading ? 'true' : undefined} {...dropped}>
        <Icon of={FileUp} size={24} />
        <h2>{isReading ? 'Reading the file' : 'Drop a CSV or JSON file here'}</h2>
        <p class="fine">
          Up to {MAX_MEBIBYTES} MiB and {count(MAX_ROWS)} rows. You will see its contents before anything is sent.
          {whyNot && ' Only admins and owners can send it.'}
        </p>
        <div class="drop-actions">
          <Action id="choose-file" look="primary" needs="nothing" onClick={() => chooser.current?.click()}>
            Choose a file
          </Action>
          <Action id="example-file" needs="nothing" onClick={() => saveCsv('users-example.csv', EXAMPLE)}>
            Download an example
          </Action>
        </div>
        <input
          class="visually-hidden"
          id="import-file"
          type="file"
          ref={chooser}
          accept=".csv,.tsv,.txt,.json,text/csv,application/json"
          tabIndex={-1}
          aria-label="File with users"
          onChange={({ currentTarget }) => {
            void read(currentTarget.files?.[0]);
            currentTarget.value = '';
          }}
        />
      </div>
      <p class="field-error" role="alert" id="file-problem">
        {problem}
      </p>
    </>
  );
}

const EXAMPLE = [
  ['email', 'given name', 'family name', 'username', 'roles', 'groups', 'scopes', 'locale', 'timezone', 'languages'],
  [
    'ada@example.com',
    'Ada',
    'Lovelace',
    'ada',
    'user;developer',
    'london-office',
    '',
    'en-GB',
    'Europe/London',
    'en:NATIVE;fr:FLUENT',
  ],
];
