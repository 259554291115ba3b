/** Account of a signed-in reader: navigation and the part named in the address. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { BrowserAccount } from '../browser/browser-accounts.ts';
import { isOver, type Outcome } from '../browser/api.ts';
import { Foot } from '../components/frame.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { type OwnAccount, accountApi } from './account-api.ts';
import { AccountContext, type AccountSession, type ProofWanted } from './account-context.tsx';
import { AccountHead } from './account-head.tsx';
import { drafts } from './drafts.ts';
import { accountFailureText } from './failure-words.ts';
import type { AccountPageProps } from './page-props.ts';
import { PartNav } from './part-nav.tsx';
import { PARTS } from './part-views.ts';
import { ProofDialog } from './proof-dialog.tsx';
import { usePart } from './use-part.ts';

interface SignedInProps extends AccountPageProps {
  readonly account: OwnAccount;
  readonly others: readonly BrowserAccount[];
  onSwitch(account: BrowserAccount): void;
  onAnother(): void;
  /** @param failure error code that ended the session; null when the reader signed out. */
  onSignedOut(failure: string | null): void;
  onClosed(email: string): void;
  /** Error code of a return from a provider that has just failed. */
  readonly failedReturn: string | null;
}

interface ProofAsked {
  readonly proof: ProofWanted;
  end(isProved: boolean): void;
}

export function SignedInAccount(props: SignedInProps) {
  const { application, locale, onSignedOut, onClosed } = props;
  const failedReturn = useRef(props.failedReturn);
  const text = useTexts();
  const toast = useToast();
  const [account, setAccount] = useState(props.account);
  const { part, heading, open } = usePart(props.part);
  const [asked, setAsked] = useState<ProofAsked | null>(null);
  const api = useMemo(() => accountApi(application.clientId), []);
  const kept = useMemo(drafts, []);
  const title = text(`account.part.${part}`);
  useEffect(() => {
    document.title = `${title} · ${application.name}`;
  }, [title]);

  function fail(outcome: Outcome<unknown>): void {
    if (outcome.ok) return;
    if (isOver(outcome)) return onSignedOut('session_ended');
    // The server tells at the next load whether the person was blocked or has left.
    if (outcome.code === 'membership_blocked') return location.reload();
    toast(accountFailureText(text, outcome), 'bad');
  }

  async function refresh(): Promise<void> {
    const outcome = await api.get<OwnAccount>('/api/account');
    if (outcome.ok) setAccount(outcome.data);
    else fail(outcome);
  }

  const session: AccountSession = {
    data: props,
    isShown: (field) => props.view.fields.includes(field),
    account,
    api,
    drafts: kept,
    fail,
    refresh,
    async change(patch, send, settle) {
      const parts = Object.keys(patch) as (keyof OwnAccount)[];
      const before = Object.fromEntries(parts.map((part) => [part, account[part]]));
      setAccount((shown) => ({ ...shown, ...patch }));
      const outcome = await send();
      const settled = outcome.ok ? settle?.(outcome.data) : before;
      if (settled) setAccount((shown) => ({ ...shown, ...settled }));
      if (!outcome.ok) fail(outcome);
      return outcome;
    },
    async withProof(proof, send) {
      const outcome = await send();
      if (outcome.ok || outcome.code !== 'reauthentication_required') return outcome;
      const isProved = await new Promise<boolean>((resolve) => setAsked({ proof, end: resolve }));
      setAsked(null);
      return isProved ? send() : null;
    },
    async signOut() {
      const outcome = await api.send('DELETE', '/account/session');
      // The page stays after a failure: the reader would leave, still signed in.
      if (outcome.ok) onSignedOut(null);
      else fail(outcome);
    },
    closed: onClosed,
    takeFailedReturn() {
      const code = failedReturn.current;
      failedReturn.current = null;
      return code;
    },
  };

  const View = PARTS[part];
  return (
    <AccountContext.Provider value={session}>
      <AccountHead
        application={application}
        account={account}
        back={props.back}
        others={props.others}
        onSwitch={props.onSwitch}
        onAnother={props.onAnother}
        onSignOut={() => void session.signOut()}
      />
      <div class="account">
        <PartNav parts={props.view.parts} part={part} onOpen={open} />
        <main class="account-part" key={part}>
          <h1 tabIndex={-1} ref={heading}>
            {title}
          </h1>
          <View />
        </main>
      </div>
      <Foot links={application.links} locale={locale} />
      {asked && <ProofDialog api={api} email={account.email} proof={asked.proof} onEnd={asked.end} />}
    </AccountContext.Provider>
  );
}
