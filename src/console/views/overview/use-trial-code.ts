/** The sign-in code of a trial, taken from the outbox of an instance without a mail server. */
import { useEffect, useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../../api.ts';
import { useEvery } from '../../refresh.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { useTrial } from '../../trials.tsx';

type Mail = Schemas['OutboxMail'];

export interface TrialCode {
  readonly code: string;
  /** ISO 8601 */
  readonly sentAt: string;
}

const LOOK_MS = 2000;
const NEWEST = 20;

/**
 * Returns the newest code mailed to the address since the trial began; null until there is one. Mails to other addresses are
 * not opened, because each opened mail is audited.
 */
export function useTrialCode(application: Schemas['Application'], email: string, isWanted: boolean): TrialCode | null {
  const { workspace } = useConsole();
  const { isOwner } = useRights();
  const [{ since }] = useTrial(application.id);
  const [mailId, setMailId] = useState<string | null>(null);
  const [found, setFound] = useState<TrialCode | null>(null);
  const isLooking = isWanted && isOwner && since !== null;
  const { id: workspaceId } = workspace;

  async function look(): Promise<void> {
    const query = { workspaceId, status: 'captured', limit: NEWEST } as const;
    const mails = await ask(api.GET('/api/workspace/outbox', { params: { query } }));
    if (!mails.ok) return;
    const isOfTrial = ({ createdAt, to, lane, applicationId }: Mail) =>
      since !== null && createdAt >= since && to === email && lane === 'code' && applicationId === application.id;
    setMailId(mails.data.items.find(isOfTrial)?.id ?? null);
  }

  useEvery(isLooking ? LOOK_MS : null, look);
  useEffect(() => {
    setFound(null);
    if (mailId === null || !isLooking) return;
    let isOver = false;
    const path = { mailId };
    void ask(api.GET('/api/workspace/outbox/{mailId}', { params: { path, query: { workspaceId } } })).then((mail) => {
      if (!isOver && mail.ok && mail.data.code !== null)
        setFound({ code: mail.data.code, sentAt: mail.data.createdAt });
    });
    return () => void (isOver = true);
  }, [mailId, isLooking]);
  return found;
}
