/** The guides: Markdown files embedded in the binary, in reading order. */
import commandLine from './guides/command-line-and-agents.md' with { type: 'text' };
import deviceLogin from './guides/device-login.md' with { type: 'text' };
import errorsAndLimits from './guides/errors-and-limits.md' with { type: 'text' };
import events from './guides/events.md' with { type: 'text' };
import firstSignIn from './guides/first-sign-in.md' with { type: 'text' };
import integrationTests from './guides/integration-tests.md' with { type: 'text' };
import migrate from './guides/migrate.md' with { type: 'text' };
import onAPage from './guides/on-a-page.md' with { type: 'text' };
import production from './guides/production.md' with { type: 'text' };
import verify from './guides/verify.md' with { type: 'text' };
import webhooks from './guides/webhooks.md' with { type: 'text' };

import { errorsTable, eventsTable, limitsTable } from './tables.ts';

export interface Guide {
  /** Last segment of the URL, `/docs/guides/<slug>`. */
  readonly slug: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** Heading in the navigation. */
  readonly group: string;
  /** Full Markdown; `{{url}}` is the placeholder for this instance's URL: see {@link guideMarkdown}. */
  readonly text: string;
}

export const GUIDES: readonly Guide[] = [
  guide('Start', 'first-sign-in', firstSignIn),
  guide('Start', 'on-a-page', onAPage),
  guide('Start', 'verify', verify),
  guide('Build', 'webhooks', webhooks),
  guide('Build', 'events', events),
  guide('Build', 'errors-and-limits', errorsAndLimits),
  guide('Build', 'device-login', deviceLogin),
  guide('Build', 'migrate', migrate),
  guide('Build', 'integration-tests', integrationTests),
  guide('Run', 'production', production),
  guide('Run', 'command-line-and-agents', commandLine),
];

/** @param url this instance's URL, without a trailing slash. */
export function guideMarkdown({ text }: Pick<Guide, 'text'>, url: string): string {
  return text.replaceAll('{{url}}', url);
}

/** Parses a file that starts with its title as heading and its summary as paragraph. */
function guide(group: string, slug: string, text: string): Guide {
  const [, title = '', summary = ''] = /^# (.+)\n\n(.+)\n/.exec(text) ?? [];
  return { slug, title, summary, group, text: withTables(text) };
}

function withTables(text: string): string {
  return text.replace('{{events}}', eventsTable).replace('{{errors}}', errorsTable).replace('{{limits}}', limitsTable);
}
