/** The guides: Markdown files embedded in the binary, in reading order. */
import accounts from './guides/accounts.md' with { type: 'text' };
import api from './guides/api.md' with { type: 'text' };
import backups from './guides/backups.md' with { type: 'text' };
import comingFrom from './guides/coming-from.md' with { type: 'text' };
import commandLine from './guides/command-line-and-agents.md' with { type: 'text' };
import deviceLogin from './guides/device-login.md' with { type: 'text' };
import errorsAndLimits from './guides/errors-and-limits.md' with { type: 'text' };
import events from './guides/events.md' with { type: 'text' };
import firstSignIn from './guides/first-sign-in.md' with { type: 'text' };
import frameworks from './guides/frameworks.md' with { type: 'text' };
import growing from './guides/growing.md' with { type: 'text' };
import integrationTests from './guides/integration-tests.md' with { type: 'text' };
import migrate from './guides/migrate.md' with { type: 'text' };
import monitoring from './guides/monitoring.md' with { type: 'text' };
import notIncluded from './guides/not-included.md' with { type: 'text' };
import onAPage from './guides/on-a-page.md' with { type: 'text' };
import openid from './guides/openid.md' with { type: 'text' };
import performance from './guides/performance.md' with { type: 'text' };
import personalData from './guides/personal-data.md' with { type: 'text' };
import production from './guides/production.md' with { type: 'text' };
import sessions from './guides/sessions.md' with { type: 'text' };
import settings from './guides/settings.md' with { type: 'text' };
import shop from './guides/shop.md' with { type: 'text' };
import signInMethods from './guides/sign-in-methods.md' with { type: 'text' };
import typescript from './guides/typescript.md' with { type: 'text' };
import verify from './guides/verify.md' with { type: 'text' };
import webhooks from './guides/webhooks.md' with { type: 'text' };

export interface Guide {
  /** Last segment of the URL, `/docs/guides/<slug>`. */
  readonly slug: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** Heading in the navigation. */
  readonly group: string;
  /** Full Markdown with the example URL: see {@link guideMarkdown}. */
  readonly text: string;
}

/** The URL of a local server, which the files name so that they read well outside an instance too. */
const EXAMPLE_URL = 'http://localhost:8080';

export const GUIDES: readonly Guide[] = [
  guide('Start', 'first-sign-in', firstSignIn),
  guide('Start', 'shop', shop),
  guide('Build', 'on-a-page', onAPage),
  guide('Build', 'sign-in-methods', signInMethods),
  guide('Build', 'accounts', accounts),
  guide('Build', 'openid', openid),
  guide('Build', 'verify', verify),
  guide('Build', 'sessions', sessions),
  guide('Build', 'webhooks', webhooks),
  guide('Build', 'events', events),
  guide('Build', 'device-login', deviceLogin),
  guide('Build', 'typescript', typescript),
  guide('Build', 'frameworks', frameworks),
  guide('Build', 'integration-tests', integrationTests),
  guide('Build', 'migrate', migrate),
  guide('Build', 'coming-from', comingFrom),
  guide('Run', 'production', production),
  guide('Run', 'backups', backups),
  guide('Run', 'growing', growing),
  guide('Run', 'performance', performance),
  guide('Run', 'monitoring', monitoring),
  guide('Run', 'personal-data', personalData),
  guide('Run', 'settings', settings),
  guide('Run', 'command-line-and-agents', commandLine),
  guide('Look up', 'api', api),
  guide('Look up', 'errors-and-limits', errorsAndLimits),
  guide('Look up', 'not-included', notIncluded),
];

/** @param url this instance's URL, without a trailing slash. */
export function guideMarkdown({ text }: Pick<Guide, 'text'>, url: string): string {
  return text.replaceAll(EXAMPLE_URL, url);
}

/** Parses a file that starts with its title as heading and its summary as paragraph. */
function guide(group: string, slug: string, text: string): Guide {
  const [, title = '', summary = ''] = /^# (.+)\n\n(.+)\n/.exec(text) ?? [];
  return { slug, title, summary, group, text };
}
