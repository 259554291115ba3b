/** Pages of a sign-out that a client asks for: confirmation and result. They work without JavaScript. */
import { LogOut } from 'lucide';
import { hyphenated } from '../../core/hyphenated.ts';
import type { Locale } from '../../core/locale.ts';
import { SIGN_OUT_PATH } from '../../core/openid-paths.ts';
import type { PageApplication } from '../../http/request-context.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { brandOf } from '../application-brand.ts';
import { homeOf } from '../application-home.ts';
import { ApplicationFrame } from '../components/application-frame.tsx';
import { Button, LinkButton } from '../components/button.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { renderPage } from '../document.tsx';

/** People who sign out, and the values that the form sends. */
export interface ShownSignOut {
  readonly client: { readonly application: PageApplication } | null;
  readonly emails: readonly string[];
  /** The request as a query. */
  readonly query: string;
  readonly confirmation: string;
}

export interface SignOutPage extends ShownSignOut {
  readonly locale: Locale;
}

export function renderSignOutPage({ locale, client, emails, query, confirmation }: SignOutPage): string {
  const text = textsFor(locale);
  const application = client?.application ?? null;
  const [email = ''] = emails;
  const home = application && homeOf(application);
  return renderPage({
    locale,
    title: text('openid.signOutTitle'),
    brand: application && brandOf(application),
    module: 'language.js',
    body: (
      <ApplicationFrame application={application} locale={locale}>
        <section class="step" id="confirm-sign-out">
          <h1>{text('openid.signOutTitle')}</h1>
          {emails.length === 1 ? (
            <p class="lead" id="who">
              {emphasized(text, 'openid.signOutLead', { email })}
            </p>
          ) : (
            <div id="who">
              <p class="lead">{text('openid.signOutLeadAll')}</p>
              <ul class="tags" translate={false}>
                {emails.map((address) => (
                  <li key={address}>{address}</li>
                ))}
              </ul>
            </div>
          )}
          <p class="lead">{text('openid.signOutEffect')}</p>
          <form class="actions" method="post" action={SIGN_OUT_PATH}>
            <input type="hidden" name="request" value={query} />
            <input type="hidden" name="confirmation" value={confirmation} />
            <Button id="sign-out" type="submit">
              {text('account.signOut')}
            </Button>
            {home !== null && (
              <LinkButton id="stay" look="plain" href={home}>
                {text('openid.stay')}
              </LinkButton>
            )}
          </form>
        </section>
      </ApplicationFrame>
    ),
  });
}

/** Without a language switch: the answer to a form cannot be loaded again. */
export function renderSignedOutPage({
  locale,
  client,
}: {
  readonly locale: Locale;
  readonly client: ShownSignOut['client'];
}): string {
  const text = textsFor(locale);
  const application = client?.application ?? null;
  const home = application && homeOf(application);
  const title = text('openid.signedOutTitle');
  return renderPage({
    locale,
    title,
    brand: application && brandOf(application),
    body: (
      <ApplicationFrame application={application}>
        <OutcomeStep id="signed-out" icon={LogOut} tone="good" title={title} lead={text('signin.signedIn')}>
          {application && home !== null && (
            <LinkButton id="home" href={home}>
              {text('signin.back', { app: hyphenated(application.name) })}
            </LinkButton>
          )}
        </OutcomeStep>
      </ApplicationFrame>
    ),
  });
}
