/** Pictures of the guides, embedded in the binary; `bun run pictures` draws them. */
import accountDark from './guides/images/account-dark.webp' with { type: 'file' };
import accountLight from './guides/images/account-light.webp' with { type: 'file' };
import consoleDark from './guides/images/console-dark.webp' with { type: 'file' };
import consoleLight from './guides/images/console-light.webp' with { type: 'file' };
import signInDark from './guides/images/sign-in-dark.webp' with { type: 'file' };
import signInLight from './guides/images/sign-in-light.webp' with { type: 'file' };
import usersDark from './guides/images/users-dark.webp' with { type: 'file' };
import usersLight from './guides/images/users-light.webp' with { type: 'file' };
import webhooksDark from './guides/images/webhooks-dark.webp' with { type: 'file' };
import webhooksLight from './guides/images/webhooks-light.webp' with { type: 'file' };

/** Paths by file name, which is the last segment of the URL. */
export const PICTURES: ReadonlyMap<string, string> = new Map([
  ['account-dark.webp', accountDark],
  ['account-light.webp', accountLight],
  ['console-dark.webp', consoleDark],
  ['console-light.webp', consoleLight],
  ['sign-in-dark.webp', signInDark],
  ['sign-in-light.webp', signInLight],
  ['users-dark.webp', usersDark],
  ['users-light.webp', usersLight],
  ['webhooks-dark.webp', webhooksDark],
  ['webhooks-light.webp', webhooksLight],
]);
