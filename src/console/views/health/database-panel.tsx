/** Panels for the database and the server that holds it, if any. */
import type { Schemas } from '../../api.ts';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { bytes, count, duration } from '../../components/format.ts';

interface DatabasePanelProps {
  readonly database: Schemas['InstanceDatabase'];
  readonly engine: string;
}

const ENGINES: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

export function DatabasePanel({ database, engine }: DatabasePanelProps) {
  const { server, reusableBytes, walBytes, freeBytes } = database;
  const name = ENGINES[engine] ?? engine;
  return (
    <Panel id="database" title="Database">
      <Facts
        of={[
          ['Engine', server === null ? name : `${name} ${server.version}`],
          server !== null && ['Server', <code>{server.host}</code>],
          server !== null && ['Name', <code>{server.database}</code>],
          ['Size', bytes(database.bytes)],
          reusableBytes !== null && ['Reusable', bytes(reusableBytes)],
          walBytes !== null && ['Log (WAL)', bytes(walBytes)],
          freeBytes !== null && ['Free on disk', bytes(freeBytes)],
          ['Schema version', count(database.schemaVersion)],
        ]}
      />
    </Panel>
  );
}

export function ServerPanel({ server }: { readonly server: Schemas['DatabaseServer'] }) {
  const { connections, standbys, synchronousCommit, synchronousStandbyNames, oldestTransactionMs } = server;
  return (
    <Panel id="database-server" title="Database server">
      <Facts
        of={[
          ['Connections', `${count(connections.all)} of ${count(connections.most)}, own: ${count(connections.own)}`],
          ['Standbys', standbys.length === 0 ? 'None' : <Standbys of={standbys} />],
          ['Commits wait for', awaited(synchronousCommit, synchronousStandbyNames)],
          [
            'Oldest transaction',
            oldestTransactionMs === null ? 'None open' : duration(Math.round(oldestTransactionMs / 1000)),
          ],
          ['Autovacuum', server.isAutovacuumOn ? 'On' : 'Off'],
          ['Data checksums', server.hasChecksums ? 'On' : 'Off'],
          ['Last backup', 'Unknown: the database’s own tools make them'],
        ]}
      />
      {server.hiddenSessions > 0 && (
        <p class="fine">
          {count(server.hiddenSessions)} sessions of other roles cannot be seen. <code>GRANT pg_read_all_stats</code> to
          the role shows them.
        </p>
      )}
    </Panel>
  );
}

function awaited(commit: string, standbys: string) {
  if (commit === 'off') return 'Nothing: a crash loses the last moments';
  return commit === 'local' || standbys === '' ? 'The primary alone' : <code>{standbys}</code>;
}

function Standbys({ of }: { readonly of: readonly Schemas['DatabaseStandby'][] }) {
  return (
    <>
      {of.map(({ name, syncState, lagBytes }, index) => (
        <div key={index}>
          {name ?? 'Name hidden'}
          {syncState !== null && ` (${syncState})`}, {lagBytes === null ? 'lag unknown' : `${bytes(lagBytes)} behind`}
        </div>
      ))}
    </>
  );
}
