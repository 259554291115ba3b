/** Progress of the background task that an effective change has left, polled until it is done. */
import { useEffect } from 'preact/hooks';
import { api, ask, type Schemas } from '../api.ts';
import { useLoaded } from '../data.ts';
import { useEvery } from '../refresh.ts';
import { Progress } from './progress.tsx';

interface PendingWorkProps {
  readonly application: Schemas['Application'];
  readonly onDone: () => unknown;
}

const LOOK_MS = 1500;

/** Set a `key` if one change may follow another. */
export function PendingWork({ application, onDone }: PendingWorkProps) {
  const { id, pendingWork } = application;
  const loaded = useLoaded(async () => {
    if (pendingWork === null) return { ok: true as const, data: application };
    return ask(api.GET('/api/applications/{id}', { params: { path: { id } } }));
  }, [id, application.updatedAt, pendingWork?.kind]);
  const now = loaded.data?.pendingWork ?? null;
  useEvery(now === null ? null : LOOK_MS, loaded.reload);
  const isDone = pendingWork !== null && loaded.data !== null && now === null;
  useEffect(() => {
    if (isDone) void onDone();
  }, [isDone]);
  if (now === null) return null;
  return (
    <div class="panel" id="pending-work">
      <Progress label={LABELS[now.kind] ?? 'A background task is running'} done={now.done} total={now.total} />
    </div>
  );
}

const LABELS: Readonly<Record<string, string>> = {
  launch: 'Notifying everybody who waited, at the hourly rate the workspace may send',
  change_users: 'Changing many users',
  decide_pending: 'Deciding on pending requests',
  end_sessions: 'Ending sessions',
  end_keys: 'Revoking keys',
  withdraw_grant: 'Taking it away from everybody who has it',
  announce_rename: 'Notifying backends of the new name',
  delete_webhook: 'Removing a webhook and its deliveries',
  drop_held: 'Dropping held events',
  replay_deliveries: 'Sending failed events again',
  forget_sessions: 'Deleting ended sessions',
};
