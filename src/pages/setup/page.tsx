/** Page of a one-time setup link: creates the first owner or restores access, then offers an API key. */
import { CircleCheck } from 'lucide';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Locale } from '../../core/locale.ts';
import { type Failure, post, type SignedIn } from '../browser/api.ts';
import { isLikeEmail } from '../browser/email-address.ts';
import { browserTimezone } from '../browser/timing.ts';
import { ProductMark } from '../components/application-mark.tsx';
import { Button, LinkButton } from '../components/button.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { failureText } from '../components/failure-text.ts';
import { EmailField } from '../components/field.tsx';
import { Frame } from '../components/frame.tsx';
import { Icon } from '../components/icon.tsx';
import { useTexts } from '../components/texts.tsx';
import { ApiKeyPart } from './api-key.tsx';

export interface SetupPageProps {
  readonly locale: Locale;
  /** Token of the link, already validated; null when the link has been used. */
  readonly token: string | null;
  /** Owner signed in by this browser, when the page is loaded again. */
  readonly ownerEmail: string | null;
  readonly hasOwner: boolean;
}

export function SetupPage({ locale, token, ownerEmail, hasOwner }: SetupPageProps) {
  const text = useTexts();
  const [owner, setOwner] = useState(ownerEmail);

  function done(email: string): void {
    // Removes the used link from the history; a reload stays in the language.
    const locale = new URLSearchParams(location.search).get('locale');
    history.replaceState(null, '', `${location.pathname}${locale ? `?${new URLSearchParams({ locale })}` : ''}`);
    setOwner(email);
  }

  return (
    <Frame brand={<ProductMark />} locale={locale} isWide scriptNeeded={text('signin.setup.scriptNeeded')}>
      {owner === null && token !== null && <Ask token={token} hasOwner={hasOwner} onDone={done} />}
      {owner !== null && <Done email={owner} isRecovery={hasOwner && token !== null} />}
    </Frame>
  );
}

function Ask({ token, hasOwner, onDone }: { token: string; hasOwner: boolean; onDone(email: string): void }) {
  const text = useTexts();
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);

  async function submit(): Promise<void> {
    const address = (field.current?.value ?? '').trim();
    if (!isLikeEmail(address)) return fail(text('errors.invalid_request'));
    if (isAtWork) return;
    setIsAtWork(true);
    setError(null);
    const outcome = await post<SignedIn>('/api/setup', { token, email: address, timezone: browserTimezone() });
    setIsAtWork(false);
    if (outcome.ok) return onDone(address);
    fail(isLinkSpent(outcome) ? text('errors.setup_link_spent') : failureText(text, outcome));
  }

  function fail(message: string): void {
    setError(message);
    field.current?.focus();
  }

  return (
    <section class="step" id="ask">
      <h1>{text(hasOwner ? 'signin.setup.recoverTitle' : 'signin.setup.title')}</h1>
      <p class="lead">{text(hasOwner ? 'signin.setup.recoverLead' : 'signin.setup.lead')}</p>
      <form
        id="setup-form"
        method="post"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <EmailField
          id="email"
          label={text('signin.setup.emailLabel')}
          autocomplete="email"
          autoFocus
          error={error}
          inputRef={field}
        />
        <Button id="setup-submit" type="submit" busyText={isAtWork && text('signin.setup.working')}>
          {text(hasOwner ? 'signin.setup.recoverSubmit' : 'signin.setup.submit')}
        </Button>
      </form>
    </section>
  );
}

/** Every error that rejects the token means that the link has been used. */
function isLinkSpent({ code }: Failure): boolean {
  return /^(?:not_found|unauthenticated|forbidden|invalid_state|code_\w+)$/.test(code);
}

function Done({ email, isRecovery }: { email: string; isRecovery: boolean }) {
  const text = useTexts();
  const title = text(isRecovery ? 'signin.setup.recoverDoneTitle' : 'signin.setup.doneTitle');
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = title;
    heading.current?.focus();
  }, []);

  return (
    <section class="step" id="done">
      <span class="outcome-mark" data-tone="good">
        <Icon of={CircleCheck} size={24} />
      </span>
      <h1 id="done-title" tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <p class="lead" id="done-lead">
        {emphasized(text, 'signin.setup.doneLead', { email })}
      </p>
      <LinkButton id="open-console" href="/console">
        {text('signin.setup.openConsole')}
      </LinkButton>
      <ApiKeyPart />
    </section>
  );
}
