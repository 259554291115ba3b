/** Links of an error page: on, and to those who run the application. Never to the operator's console. */
import { supportOf } from '../../core/application-support.ts';
import type { AppError, ErrorCode } from '../../core/error.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import type { Texts } from '../../i18n/texts.ts';
import { homeOf } from '../application-home.ts';
import { LinkButton } from '../components/button.tsx';
import { hyphenated } from '../../core/hyphenated.ts';
import { useTexts } from '../components/texts.tsx';
import { ownAddress } from '../sign-in/sign-in-data.ts';

/** Errors for which a retry may help. */
const PASSING: readonly ErrorCode[] = ['rate_limited', 'internal', 'unavailable'];
/** Errors for which another sign-in method may help. */
const OF_ONE_WAY: readonly ErrorCode[] = ['forbidden', 'invalid_state', 'provider_failed'];
/** Errors of a link that somebody follows who fears a theft. */
const OF_THEFT: readonly AppError['hint'][] = ['undo_link_spent', 'undo_address_taken'];

interface Way {
  readonly href: string;
  readonly label: string;
}

interface WaysOnProps {
  readonly error: AppError;
  readonly context: Pick<RequestContext, 'request' | 'application'>;
}

/** Draws nothing where no way is known. */
export function WaysOn({ error, context }: WaysOnProps) {
  const ways = waysOn(error, context, useTexts());
  return ways.length === 0 ? null : (
    <div class="actions">
      {ways.map(({ href, label }, index) => (
        <LinkButton key={href} href={href} look={index === 0 ? 'primary' : 'plain'}>
          {label}
        </LinkButton>
      ))}
    </div>
  );
}

/** The most helpful comes first. A person who fears a theft needs help before anything else. */
function waysOn(
  { code, hint }: AppError,
  { request, application }: WaysOnProps['context'],
  text: Texts,
): readonly Way[] {
  // An empty address means this page.
  if (PASSING.includes(code)) return [{ href: '', label: text('errors.problem.tryAgain') }];
  const query = queryOf(request);
  const clientId = query.get('clientId');
  if (clientId !== null && OF_ONE_WAY.includes(code)) {
    const href = ownAddress('/sign-in', { clientId, locale: query.get('locale') });
    return [{ href, label: text('signin.otherWay') }];
  }
  if (application === null) return [];
  const app = hyphenated(application.name);
  const home = homeOf(application);
  const support = supportOf(application);
  const back = home === null ? [] : [{ href: home, label: text('signin.back', { app }) }];
  const help = support === null ? [] : [{ href: support, label: text('signin.writeTo', { app }) }];
  return OF_THEFT.includes(hint) ? [...help, ...back] : [...back, ...help];
}
