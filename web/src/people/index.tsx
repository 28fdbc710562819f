import { Page } from '../parts/Page';
import { Empty } from '../parts/States';

// Everything below /people.
export default function People() {
  return (
    <Page title="People">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
