/** Account of a signed-in reader: navigation and the part named in the address. */
import { AppWindow, Download, KeyRound, LogOut, MapPin, MonitorSmartphone, UserRound } from 'lucide';
import type { IconNode } from 'lucide';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isOver, type Outcome } from '../browser/api.ts';
import { ApplicationMark } from '../components/application-mark.tsx';
import { Foot } from '../components/frame.tsx';
import { Icon } from '../components/icon.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { type OwnAccount, accountApi } from './account-api.ts';
import { AccountContext, type AccountSession, type ProofWanted } from './account-context.tsx';
import { accountFailureText } from './failure-words.ts';
import type { AccountPageProps } from './page-props.ts';
import { ACCOUNT_PARTS, type AccountPart, isAccountPart } from './parts.ts';
import { PARTS } from './part-views.ts';
import { ProofDialog } from './proof-dialog.tsx';

const ICONS: Readonly<Record<AccountPart, IconNode>> = {
  profile: UserRound,
  addresses: MapPin,
  'sign-in': KeyRound,
  devices: MonitorSmartphone,
  applications: AppWindow,
  data: Download,
};

interface SignedInProps extends AccountPageProps {
  readonly account: OwnAccount;
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
  const [part, setPart] = useState<AccountPart>(props.part);
  const [asked, setAsked] = useState<ProofAsked | null>(null);
  const api = useMemo(() => accountApi(application.clientId), []);
  useEffect(() => {
    const follow = () => setPart(partOf(location.pathname));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const title = text(`account.part.${part}`);
  useEffect(() => {
    document.title = `${title} · ${application.name}`;
  }, [title]);

  function fail(outcome: Outcome<unknown>): void {
    if (outcome.ok) return;
    if (isOver(outcome)) return onSignedOut('session_ended');
    toast(accountFailureText(text, outcome), 'bad');
  }

  async function refresh(): Promise<void> {
    const outcome = await api.get<OwnAccount>('/api/account');
    if (outcome.ok) setAccount(outcome.data);
    else fail(outcome);
  }

  const session: AccountSession = {
    data: props,
    account,
    api,
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
      await api.send('DELETE', '/account/session');
      onSignedOut(null);
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
      <header class="account-head">
        <ApplicationMark {...application} />
        <span class="account-app" dir="auto">
          {application.name}
        </span>
        <button class="link" id="sign-out" type="button" onClick={() => void session.signOut()}>
          <Icon of={LogOut} size={16} /> {text('account.signOut')}
        </button>
      </header>
      <div class="account">
        <nav aria-label={text('account.title')}>
          {ACCOUNT_PARTS.map((name) => (
            <a
              key={name}
              href={addressOf(name)}
              aria-current={name === part ? 'page' : undefined}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                history.pushState(null, '', addressOf(name));
                setPart(name);
              }}
            >
              <Icon of={ICONS[name]} /> <span>{text(`account.part.${name}`)}</span>
            </a>
          ))}
        </nav>
        <main class="account-part" key={part}>
          <h1>{title}</h1>
          <View />
        </main>
      </div>
      <Foot links={application.links} locale={locale} />
      {asked && <ProofDialog api={api} email={account.email} proof={asked.proof} onEnd={asked.end} />}
    </AccountContext.Provider>
  );
}

/** Returns the address of a part, with the same application and language. */
function addressOf(part: AccountPart): string {
  const query = typeof location === 'undefined' ? '' : location.search;
  return `/account/${part}${query}`;
}

function partOf(path: string): AccountPart {
  const name = path.split('/')[2] ?? '';
  return isAccountPart(name) ? name : 'profile';
}
