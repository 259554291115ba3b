/** Browser entry point of the setup page. */
import { takeUp } from '../browser/take-up.tsx';
import { SetupPage } from './page.tsx';

takeUp(SetupPage);
