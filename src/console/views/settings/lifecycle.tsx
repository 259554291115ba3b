/** Archiving, deleting, hiding and restoring an application, with countdown and background task. */
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { Panel } from '../../components/panel.tsx';
import { PendingWork } from '../../components/pending-work.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { dayOf } from '../../components/format.ts';
import { useToast } from '../../../pages/components/toast.tsx';
import { useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { CodeDialog, LifecycleDialog } from './lifecycle-dialog.tsx';
import { LIFECYCLE_WORDS, type LifecycleStep } from './lifecycle-words.ts';

type Application = Schemas['Application'];

export function Lifecycle({ application }: ApplicationViewProps) {
  const { reloadApplications } = useConsole();
  const report = useReport();
  const toast = useToast();
  const code = useDialog<{ readonly step: LifecycleStep; readonly challengeId: string }>((sent) => (
    <CodeDialog application={application} {...sent} onDone={() => toast(LIFECYCLE_WORDS[sent.step].done)} />
  ));
  const first = useDialog<LifecycleStep>((step) => (
    <LifecycleDialog application={application} step={step} onSent={(challengeId) => code.open({ step, challengeId })} />
  ));
  const { id, archivedAt, deletedAt } = application;

  async function bringBack(outcome: Outcome<Application>, done: string): Promise<void> {
    if (report(outcome, done)) await reloadApplications();
  }
  const params = { path: { id } };
  const unarchive = async () =>
    bringBack(await ask(api.POST('/api/applications/{id}/unarchive', { params })), 'It is in service again.');
  const restore = async () =>
    bringBack(await ask(api.POST('/api/applications/{id}/restore', { params })), 'It is in service again.');

  return (
    <div class="settings-parts">
      <PendingWork application={application} onDone={reloadApplications} />
      <Panel
        id="lifecycle-state"
        title="State"
        action={
          deletedAt !== null ? (
            <Action id="restore" look="primary" onClick={restore}>
              Restore
            </Action>
          ) : (
            archivedAt !== null && (
              <Action id="unarchive" look="primary" onClick={unarchive}>
                Unarchive
              </Action>
            )
          )
        }
      >
        <State application={application} />
      </Panel>
      <Panel
        title="Danger zone"
        lead="Each of these is confirmed with a code mailed to you, and recorded in the activity."
        isDanger
      >
        <ul class="dangers">
          {stepsOf(application).map((step) => (
            <li key={step}>
              <div>
                <h3>{LIFECYCLE_WORDS[step].title}</h3>
                <p class="fine">{LIFECYCLE_WORDS[step].effect}</p>
              </div>
              <Action id={step} look="danger" onClick={() => first.open(step)}>
                {LIFECYCLE_WORDS[step].verb}…
              </Action>
            </li>
          ))}
        </ul>
      </Panel>
      {first.dialog}
      {code.dialog}
    </div>
  );
}

/** Returns the available steps, mildest first. */
function stepsOf({ archivedAt, deletedAt, isHidden }: Application): LifecycleStep[] {
  if (deletedAt !== null) return isHidden ? [] : ['hide'];
  return archivedAt === null ? ['archive', 'delete', 'delete-now'] : ['delete', 'delete-now'];
}

function State({ application }: ApplicationViewProps) {
  const { archivedAt, deletedAt, purgeAfter, isHidden, stage } = application;
  if (deletedAt !== null)
    return (
      <div class="lifecycle-state">
        <Status tone="bad">Deleted</Status>
        <p>
          Since <Time at={deletedAt} />. Nobody can sign in.
        </p>
        {isHidden && <p>It is hidden from the lists. It can be restored here.</p>}
        {purgeAfter !== null && !isHidden && (
          <p id="countdown">
            <strong>
              <Countdown to={purgeAfter} over="No time" />
            </strong>{' '}
            left in the list. After {dayOf(purgeAfter)} it is hidden, and can still be restored.
          </p>
        )}
      </div>
    );
  if (archivedAt !== null)
    return (
      <div class="lifecycle-state">
        <Status tone="warn">Archived</Status>
        <p>
          Since <Time at={archivedAt} />. Nobody can sign in; everything else is as it was.
        </p>
      </div>
    );
  return (
    <div class="lifecycle-state">
      <Status tone="good">In service</Status>
      <p>
        {stage === 'draft' ? 'As a draft, for members of the workspace only.' : 'Anybody the gate lets in can sign in.'}
      </p>
    </div>
  );
}
