/** Instance health: warnings first, then database, queues and settings. */
import { Empty } from '../../components/empty.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { useEvery } from '../../refresh.ts';
import { useRights } from '../../console-context.tsx';
import { DatabasePanel, ServerPanel } from './database-panel.tsx';
import { InstancePanel, QueuesPanel } from './instance-panels.tsx';
import { InstancesTable } from './instances-table.tsx';
import { MailPanel, MailTest } from './mail-panel.tsx';
import { SettingsTable } from './settings-table.tsx';
import { useHealth } from './use-health.ts';
import { Warnings } from './warnings.tsx';

const EVERY_MS = 10_000;

export function Health() {
  const { isOwner, canWrite } = useRights();
  if (isOwner) return <OwnersHealth />;
  return (
    <>
      <PageHead title="Instance health" />
      <Empty title="Only owners see this">
        Version, mail server and settings are shown to owners of the workspace.
      </Empty>
      {canWrite && (
        <div class="after-empty">
          <Panel id="mail" title="Mail" lead="Admins can send a test mail too.">
            <MailTest />
          </Panel>
        </div>
      )}
    </>
  );
}

function OwnersHealth() {
  const { data, failure, reload } = useHealth();
  useEvery(EVERY_MS, reload);

  return (
    <>
      <PageHead title="Instance health" lead="The server that all workspaces share." />
      {!data && failure && <FailureNote failure={failure} onRetry={reload} />}
      {!data && !failure && <div class="skeleton title" aria-busy="true" />}
      {data && (
        <>
          <Warnings {...data} />
          {!data.isOperator && (
            <p class="note in-view" id="not-operator">
              Settings, database and queues are shown to the owners of the instance’s first workspace, who run it.
            </p>
          )}
          <div class="panels health-panels">
            <div>
              <InstancePanel health={data} />
              {data.database && <DatabasePanel database={data.database} engine={data.engine} />}
              {data.database?.server && <ServerPanel server={data.database.server} />}
            </div>
            <div>
              <MailPanel mail={data.mail} isOperator={data.isOperator} onChanged={reload} />
              {data.queues && <QueuesPanel queues={data.queues} />}
            </div>
          </div>
          {data.instances && data.instances.length > 0 && <InstancesTable instances={data.instances} />}
          {data.settings && <SettingsTable settings={data.settings} />}
        </>
      )}
    </>
  );
}
