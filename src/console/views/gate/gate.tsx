/** Sign-in gate of an application: gate, request policy, allowlist and waitlist. */
import { api, ask } from '../../api.ts';
import { PageHead } from '../../components/page-head.tsx';
import { PendingWork } from '../../components/pending-work.tsx';
import { useLoaded } from '../../data.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { useLiveEvents } from '../../shell/live.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { Allowlist, PAGE, useAllowlist } from './allowlist.tsx';
import { GatePanel } from './gate-panel.tsx';
import { PolicyPanel } from './policy-panel.tsx';

/** Collects live records, which arrive in bursts when many entries are decided. */
const SETTLE_MS = 400;

export function Gate({ application }: ApplicationViewProps) {
  const { canWrite } = useRights();
  const { reloadApplications } = useConsole();
  const path = { id: application.id };
  const counts = useLoaded(
    () => ask(api.GET('/api/applications/{id}/beta-interests/counts', { params: { path } })),
    [application.id],
  );
  const list = useAllowlist(application.id, canWrite);

  async function refresh(): Promise<void> {
    await Promise.all([counts.reload(), canWrite && list.reload()]);
  }
  /** Reloads the list only if no further page is loaded, to keep the scroll position. */
  const follow = () => ((list.items?.length ?? 0) > PAGE ? counts.reload() : refresh());

  useLiveEvents(SETTLE_MS, (events) => {
    const kinds = new Set(events.map(({ kind }) => kind));
    const isGateChanged = kinds.has('application.gate_changed');
    if (isGateChanged || events.some(({ kind }) => kind.startsWith('beta.'))) void follow();
    if (isGateChanged || kinds.has('beta.policy_changed')) void reloadApplications();
  });

  return (
    <>
      <PageHead
        title="Gate and allowlist"
        lead="Who may sign in to this application, and who is waiting to. Changes take effect with the next sign-in."
      />
      <PendingWork
        application={application}
        onDone={async () => {
          await reloadApplications();
          await refresh();
        }}
      />
      <div class="panels gate-choices">
        <GatePanel key={application.signinGate} application={application} counts={counts.data} onChanged={refresh} />
        <PolicyPanel
          key={application.betaRequestPolicy}
          application={application}
          pending={counts.data?.pending ?? null}
          onChanged={refresh}
        />
      </div>
      <Allowlist
        application={application}
        list={list}
        counts={counts.data}
        onChanged={refresh}
        onDecided={counts.reload}
      />
    </>
  );
}
