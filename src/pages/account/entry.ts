/** Browser entry point of the account pages. */
import { takeUp } from '../browser/take-up.tsx';
import { AccountPage } from './page.tsx';

takeUp(AccountPage);
