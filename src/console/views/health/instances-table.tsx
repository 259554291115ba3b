/** Instances on the database, oldest first. */
import type { Schemas } from '../../api.ts';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';

export function InstancesTable({ instances }: { readonly instances: readonly Schemas['ListedInstance'][] }) {
  return (
    <Panel
      id="instances"
      title="Instances"
      lead="Processes that serve this database. One that was killed stays listed for a day."
    >
      <div class="table-frame settings-table">
        <table id="instances-table" aria-label="Instances">
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">Version</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {instances.map(({ id, host, version, startedAt, lastSeenAt, isAlive, isThis }) => (
              <tr key={id} data-key={id}>
                <td>
                  <code>{host}</code>
                  <div class="fine">
                    {id}
                    {isThis && ', answers this page'}
                  </div>
                </td>
                <td>{version}</td>
                <td>
                  <Status tone={isAlive ? 'good' : 'warn'}>{isAlive ? 'Running' : 'Not seen'}</Status>
                  <div class="fine">
                    {isAlive ? (
                      <>
                        Since <Time at={startedAt} />
                      </>
                    ) : (
                      <>
                        Last seen <Time at={lastSeenAt} />
                      </>
                    )}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
