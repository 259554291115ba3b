/** Server backups: schedule, last results, backup on demand, and how to restore. */
import { api, ask, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { Empty } from '../../components/empty.tsx';
import { Facts } from '../../components/facts.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { exactTime } from '../../components/format.ts';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { DatabaseBackups } from './database-backups.tsx';
import { RunsTable } from './runs-table.tsx';

const EVERY_MS = 5000;
const WHILE_RUNNING_MS = 500;

export function Backups() {
  const { isOwner } = useRights();
  if (isOwner) return <OwnersBackups />;
  return (
    <>
      <PageHead title="Backups" />
      <Empty title="Only owners see this">
        Backups hold everything on the server. They are managed by the owners of its first workspace, who run it.
      </Empty>
    </>
  );
}

function OwnersBackups() {
  const { id } = useConsole().workspace;
  const report = useReport();
  const { data, failure, reload } = useLoaded(
    () => ask(api.GET('/api/workspace/backups', { params: { query: { workspaceId: id } } })),
    [id],
  );
  useEvery(data?.isRunning ? WHILE_RUNNING_MS : EVERY_MS, reload);

  async function backUp(): Promise<void> {
    const outcome = await ask(api.POST('/api/workspace/backups', { params: { query: { workspaceId: id } } }));
    report(outcome, 'The backup has started.');
    await reload();
  }

  if (!data && failure?.status === 403)
    return (
      <>
        <PageHead title="Backups" />
        <Empty title="Only operators of the instance see this">{failure.message}</Empty>
      </>
    );
  const isSet = data !== null && data.place !== null;
  return (
    <>
      <PageHead
        title="Backups"
        lead={
          data?.commands
            ? 'Backups of every workspace. The instance key is kept apart.'
            : 'Backups of the whole server: every workspace, and the instance key.'
        }
        actions={
          isSet && (
            <Action id="back-up-now" look="primary" isDisabled={data.isRunning} onClick={backUp}>
              {data.isRunning ? 'Backup in progress' : 'Back up now'}
            </Action>
          )
        }
      />
      {!data && failure && <FailureNote failure={failure} onRetry={reload} />}
      {!data && !failure && <div class="skeleton title" aria-busy="true" />}
      {data?.commands && <DatabaseBackups commands={data.commands} />}
      {data && !data.commands && (
        <>
          {isSet ? <LastFailure of={data} /> : <NotSet />}
          <div class={isSet ? 'panels health-panels' : 'after-empty'}>
            {isSet && (
              <div>
                <SettingsPanel of={data} />
              </div>
            )}
            <div>
              <RestorePanel of={data} />
            </div>
          </div>
          {(isSet || data.runs.length > 0) && <RunsTable runs={data.runs} />}
        </>
      )}
    </>
  );
}

function LastFailure({ of: { runs, lastGoodAt } }: { readonly of: Schemas['Backups'] }) {
  const last = runs.find(({ status }) => status === 'succeeded' || status === 'failed');
  if (last?.status !== 'failed') return null;
  return (
    <ul class="warnings" id="backup-failed" aria-label="What needs attention">
      <li>
        <strong>The last backup failed{lastGoodAt === null ? ', and there is no earlier one' : ''}.</strong>
        {last.error} The server retries automatically.
      </li>
    </ul>
  );
}

function NotSet() {
  return (
    <Empty title="The server makes no backups">
      Set <code>GATEHOUSE_BACKUP_TO</code> to a folder or to <code>s3://bucket/prefix</code>, and restart the server.
      Backups made with <code>gatehouse backup</code> are not shown here.
    </Empty>
  );
}

function SettingsPanel({ of: backups }: { readonly of: Schemas['Backups'] }) {
  const { place, schedule, keep, isEncrypted, nextAt, lastGoodAt } = backups;
  const kept = [
    keep.count !== null && `the newest ${keep.count}`,
    keep.days !== null && `all of the last ${keep.days} days`,
  ].filter((words) => words !== false);
  return (
    <Panel id="backup-settings" title="Made by the server">
      <Facts
        of={[
          ['Last backup', <Time at={lastGoodAt} none="None yet" />],
          ['Next', nextAt === null ? 'Not planned' : <time dateTime={nextAt}>{exactTime(nextAt)}</time>],
          ['Schedule', schedule.startsWith('every') ? schedule : `${schedule} (UTC)`],
          ['Destination', <Copyable value={place ?? ''} label="destination" />],
          ['Kept', kept.join(' and ')],
          [
            'Encrypted',
            isEncrypted
              ? 'Yes'
              : 'No: anybody who can read a backup can read everything in it, including the instance key',
          ],
        ]}
      />
    </Panel>
  );
}

function RestorePanel({ of: { runs } }: { readonly of: Schemas['Backups'] }) {
  const good = runs.find(({ status }) => status === 'succeeded');
  const file = good?.place ?? 'FILE';
  const key = good?.isEncrypted ? ' --identity-file KEY' : '';
  return (
    <Panel
      id="restore"
      title="Restore a backup"
      lead="On the server’s machine, or on a new one. The first command checks a backup and changes nothing."
    >
      <Facts
        of={[
          ['Verify', <Copyable value={`gatehouse backup verify ${file}${key}`} label="command that verifies it" />],
          [
            'Restore',
            <Copyable value={`gatehouse restore ${file}${key} --data DIR`} label="command that restores it" />,
          ],
        ]}
      />
      <p class="fine">
        Stop the server first. Changes made since the backup are lost: sessions and keys that were ended since then work
        again. For a backup encrypted with a passphrase, use <code>--passphrase-file</code>.
      </p>
    </Panel>
  );
}
