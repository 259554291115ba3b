/** Backups of a database that has tools of its own: the commands to run, since the server makes none. */
import type { Schemas } from '../../api.ts';
import { Copyable } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';

export function DatabaseBackups({ commands }: { readonly commands: Schemas['BackupCommands'] }) {
  return (
    <div class="panels health-panels">
      <div>
        <Panel
          id="database-backups"
          title="Made by PostgreSQL"
          lead="The data is in PostgreSQL, and its own tools back it up. The server makes no backups, and does not know when the last one was made."
        >
          <Facts
            of={[
              ['Last backup', 'Unknown'],
              ['Back up', <Copyable value={commands.backup} label="command that makes a backup" />],
              ['Restore', <Copyable value={commands.restore} label="command that restores it" />],
            ]}
          />
          <p class="fine">
            Restore into an empty database. For the last minutes before a loss, use continuous archiving (
            <code>pgBackRest</code>, <code>WAL-G</code> or your provider’s).
          </p>
        </Panel>
      </div>
      <div>
        <Panel id="key-backup" title="Instance key">
          <p class="fine">
            Dumps do not contain the instance key. Keep <code>GATEHOUSE_INSTANCE_KEY</code> as safe as the dumps, and
            apart from them: neither is of use without the other.
          </p>
        </Panel>
      </div>
    </div>
  );
}
