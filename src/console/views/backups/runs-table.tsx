import type { Schemas } from '../../api.ts';
import { Copyable } from '../../components/copy.tsx';
import { Empty } from '../../components/empty.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status, type Tone } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { bytes, count, duration } from '../../components/format.ts';

type Run = Schemas['BackupRun'];

const STATES: Readonly<Record<Run['status'], readonly [tone: Tone, word: string]>> = {
  running: ['calm', 'Running'],
  succeeded: ['good', 'Succeeded'],
  failed: ['bad', 'Failed'],
  interrupted: ['warn', 'Interrupted'],
};

export function RunsTable({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <Panel id="backup-runs" title="Runs">
      {runs.length === 0 ? (
        <Empty title="None yet">The first one starts within a minute.</Empty>
      ) : (
        <div class="table-frame settings-table">
          <table id="backups-table" aria-label="Backups">
            <thead>
              <tr>
                <th scope="col">Started</th>
                <th scope="col">Result</th>
                <th scope="col">Backup</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <Row key={run.id} run={run} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function Row({ run }: { readonly run: Run }) {
  const { id, startedAt, endedAt, cause, status, place, error, bytes: size, rows } = run;
  const [tone, word] = STATES[status];
  const seconds = endedAt === null ? null : Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000);
  const facts = [
    size !== null && bytes(size),
    rows !== null && `${count(rows)} rows`,
    seconds !== null && seconds > 0 && duration(seconds),
  ].filter((text) => text !== false);
  return (
    <tr data-key={id}>
      <td>
        <Time at={startedAt} />
        <div class="fine">{cause === 'manual' ? 'Manual' : 'Scheduled'}</div>
      </td>
      <td>
        <Status tone={tone}>{word}</Status>
        {error !== null && <div class="fine">{error}</div>}
      </td>
      <td>
        {facts.length > 0 && <div>{facts.join(', ')}</div>}
        {status === 'succeeded' ? <Copyable value={place} label="place" /> : <span class="fine">{place}</span>}
      </td>
    </tr>
  );
}
