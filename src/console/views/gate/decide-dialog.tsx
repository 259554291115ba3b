/** Confirms a decision on allowlist entries and carries it out. */
import { useToast } from '../../../pages/components/toast.tsx';
import { api, ask, type Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { count } from '../../components/format.ts';
import { type Decision, DECISIONS, type WaitlistEntry, whom } from './words.ts';

const CALL_IDS = 200;

interface DecideDialogProps {
  readonly applicationId: string;
  readonly decision: Decision;
  readonly entries: readonly WaitlistEntry[];
  readonly onDone: (done: Done) => unknown;
}

/** Result of a decision, with the reason for those refused. */
export interface Done {
  readonly changed: number;
  /** Current states by id; null for removed entries. */
  readonly states: ReadonlyMap<string, WaitlistEntry['status'] | null>;
  readonly refusal: string | null;
}

export function DecideDialog({ applicationId, decision, entries, onDone }: DecideDialogProps) {
  const toast = useToast();
  const { verb, past, lead } = DECISIONS[decision];
  const [only] = entries.length === 1 ? entries : [];
  const form = useForm({ isNotified: false });
  // People waiting for a notification get one in any case.
  const mayBeNotified = decision === 'approve' && only !== undefined && only.source === 'request';

  return (
    <FormDialog
      id="decide-dialog"
      title={`${verb} ${whom(entries)}?`}
      lead={lead(entries.length)}
      submitText={verb}
      isDanger={decision === 'remove' || decision === 'decline'}
      form={form}
      fields={[
        mayBeNotified && { kind: 'checkbox', id: 'decide-notify', name: 'isNotified', label: 'Notify them by mail' },
      ]}
      send={() => {
        if (decision === 'remove') return remove(applicationId, entries);
        if (mayBeNotified && form.values.isNotified) return approveAndNotify(applicationId, only.id);
        return decideAll(applicationId, decision, entries);
      }}
      onDone={(done) => {
        const { changed, refusal } = done;
        if (refusal !== null) toast(`${count(changed)} of ${count(entries.length)} ${past}. ${refusal}`, 'bad');
        else toast(`${entries.length === 1 ? whom(entries) : count(changed)} ${past}.`);
        onDone(done);
      }}
    />
  );
}

async function approveAndNotify(applicationId: string, interestId: string): Promise<Outcome<Done>> {
  const outcome = await ask(
    api.POST('/api/applications/{id}/beta-interests/{interestId}/approve', {
      params: { path: { id: applicationId, interestId } },
      body: { notify: true },
    }),
  );
  if (!outcome.ok) return outcome;
  const { id, status } = outcome.data;
  return { ok: true, data: { changed: 1, states: new Map([[id, status]]), refusal: null } };
}

async function decideAll(
  applicationId: string,
  decision: Exclude<Decision, 'remove'>,
  entries: readonly WaitlistEntry[],
): Promise<Outcome<Done>> {
  const states = new Map<string, WaitlistEntry['status'] | null>();
  let changed = 0;
  let refusal: string | null = null;
  for (let from = 0; from < entries.length; from += CALL_IDS) {
    const ids = entries.slice(from, from + CALL_IDS).map(({ id }) => id);
    const outcome = await ask(
      api.POST('/api/applications/{id}/beta-interests/decide', {
        params: { path: { id: applicationId } },
        body: { decision, ids },
      }),
    );
    if (!outcome.ok) return outcome;
    changed += outcome.data.summary.changed;
    for (const { id, status = null } of outcome.data.results) states.set(id, status);
    refusal ??= outcome.data.results.find((result) => result.outcome === 'refused')?.message ?? null;
  }
  return { ok: true, data: { changed, states, refusal } };
}

/** Removes entries one by one; missing ones count as removed. */
async function remove(applicationId: string, entries: readonly WaitlistEntry[]): Promise<Outcome<Done>> {
  const states = new Map<string, null>();
  let changed = 0;
  for (const { id: interestId } of entries) {
    const outcome = await ask(
      api.DELETE('/api/applications/{id}/beta-interests/{interestId}', {
        params: { path: { id: applicationId, interestId } },
      }),
    );
    if (!outcome.ok && outcome.status !== 404)
      return changed === 0 ? outcome : { ok: true, data: { changed, states, refusal: outcome.message } };
    if (outcome.ok) changed += 1;
    states.set(interestId, null);
  }
  return { ok: true, data: { changed, states, refusal: null } };
}
