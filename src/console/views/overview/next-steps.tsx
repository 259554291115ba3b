/** Panel of what users need besides a session; shown until all is done, or two weeks after the first verification. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { useConsole } from '../../console-context.tsx';
import { useMailServer } from '../health/use-mail-server.tsx';
import { FirstStep } from './first-step.tsx';

const DAY_MS = 24 * 60 * 60_000;
const SHOWN_MS = 14 * DAY_MS;
const IS_LOOPBACK = /^http:\/\/(localhost|127\.)/;

type Application = Schemas['Application'];
type Health = Schemas['InstanceHealth'];

interface NextStepsProps {
  readonly application: Application;
  /** Null for those who may not read it. */
  readonly health: Health | null;
  /** Called once a mail server is set. */
  readonly onMailSet: () => unknown;
  readonly onHide: () => void;
}

export function NextSteps({ application, health, onMailSet, onHide }: NextStepsProps) {
  const { workspace } = useConsole();
  const { id, returnUrls, branding, firstVerifiedAt } = application;
  const [openedAt] = useState(() => Date.now());
  const hasLook = branding.logoUrl !== null || branding.accentColor !== null;
  const isReady = returnUrls.length > 0 && hasLook && (health === null || isInstanceReady(health));
  const isLongDone = firstVerifiedAt !== null && openedAt - Date.parse(firstVerifiedAt) > SHOWN_MS;
  if (isReady || isLongDone) return null;
  const settings = (part: string) => addresses.application(id, 'settings', part);
  return (
    <Panel
      id="next-steps"
      title="Before your users come"
      lead="Not needed for the first session."
      action={
        <Action needs="nothing" onClick={onHide}>
          Hide
        </Action>
      }
    >
      <ol class="steps-list">
        <FirstStep
          title="Return URL"
          isDone={returnUrls.length > 0}
          action={<StepLink href={settings('urls')}>Return URLs</StepLink>}
        >
          The sign-in page sends people back to your application, at addresses that you list.{' '}
          {health && <OnLocalhost mode={health.mode} />}
        </FirstStep>
        <FirstStep
          title="Name, logo and colour"
          isDone={hasLook}
          action={<StepLink href={settings('branding')}>Branding</StepLink>}
        >
          Pages and mails show your application, not Gatehouse.
        </FirstStep>
        {health && <InstanceSteps health={health} onMailSet={onMailSet} />}
      </ol>
      <p class="fine steps-end">
        Then <Link href={addresses.application(id, 'import')}>import users</Link>,{' '}
        <Link href={addresses.application(id, 'webhooks')}>receive events</Link>,{' '}
        <Link href={addresses.workspace(workspace.id, 'members')}>add members</Link>, or read the{' '}
        <a href="/docs" target="_blank" rel="noreferrer">
          guides
        </a>
        .
      </p>
    </Panel>
  );
}

function isInstanceReady({ mail, baseUrl }: Health): boolean {
  return mail.transport === 'smtp' && !IS_LOOPBACK.test(baseUrl);
}

function OnLocalhost({ mode }: { readonly mode: Health['mode'] }) {
  return mode === 'normal' ? (
    <>
      They begin with https. While you develop on <code>http://localhost</code>, start the server with{' '}
      <code>serve --dev</code>.
    </>
  ) : (
    <>
      <code>http://localhost</code> works too, since this server runs for development.
    </>
  );
}

/** Mail server and base URL. */
function InstanceSteps({ health, onMailSet }: { readonly health: Health } & Pick<NextStepsProps, 'onMailSet'>) {
  const { workspace } = useConsole();
  const { edit, dialogs } = useMailServer(onMailSet);
  const { mail, baseUrl, isOperator } = health;
  const isSent = mail.transport === 'smtp';
  const isLocal = IS_LOOPBACK.test(baseUrl);
  return (
    <>
      <FirstStep
        id="mail-step"
        title="Mail"
        isDone={isSent}
        action={
          isOperator && !isSent ? (
            <Action id="set-up-mail" needs="owner" onClick={edit}>
              Set up mail
            </Action>
          ) : (
            <StepLink href={addresses.workspace(workspace.id, 'health')}>Test mail</StepLink>
          )
        }
      >
        {isSent ? (
          <>Codes are sent by {mail.server ?? 'the mail server'}.</>
        ) : (
          <>
            There is no mail server yet: codes stay in the{' '}
            <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>, where owners read them.
            {!isOperator && ' The operator of the instance can set one.'}
          </>
        )}
        {dialogs}
      </FirstStep>
      <FirstStep title="Public address" isDone={!isLocal}>
        Links and passkeys use <code>{baseUrl}</code>.
        {isLocal && (
          <>
            {' '}
            Before others sign in, set <code>GATEHOUSE_BASE_URL</code> to the https address that they reach.
          </>
        )}
      </FirstStep>
    </>
  );
}

function StepLink({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <Link class="button small" href={href}>
      <span>{children}</span>
    </Link>
  );
}
