/** Browser entry point of the account pages. */
import { hydratePage } from '../browser/hydrate.tsx';
import { AccountPage } from './page.tsx';

hydratePage(AccountPage);
