/** The account in the browser. */
import { takeUp } from '../browser/take-up.tsx';
import { AccountPage } from './page.tsx';

takeUp(AccountPage);
