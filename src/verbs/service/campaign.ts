import { type AddVerbs, brief, single, textArgument } from '../verb.js';

/** `volley campaign status|set` */
export const addCampaignVerbs: AddVerbs = (cli, { terminal, finish }) =>
  cli.command('campaign', 'Show or set the status of a dialer campaign', (campaign) =>
    brief(campaign, 'campaign <status|set>', terminal)
      .command(
        'status <id>',
        'Show the status of a campaign',
        (command) =>
          brief(command, 'campaign status <id> --job <file>', terminal)
            .positional('id', textArgument('Id of the campaign'))
            .options(single)
            .example('$0 campaign status 101 --job jobs/campaign-window.yaml', ''),
        ({ id, job, json }) =>
          finish(
            import('../../commands/campaign.js').then(({ showCampaign }) => showCampaign({ id, job, json }, terminal)),
          ),
      )
      .command(
        'set <id> <status>',
        'Set the status of a campaign; reads it first, and refuses a change that is impossible',
        (command) =>
          brief(command, 'campaign set <id> <status> --job <file>', terminal)
            .positional('id', textArgument('Id of the campaign'))
            .positional('status', textArgument('RUNNING, PAUSED, PURGED or STOPPED, in either case; STOPPED is final'))
            .options(single)
            .example('$0 campaign set 101 PAUSED --job jobs/campaign-window.yaml', ''),
        ({ id, status, job, json }) =>
          finish(
            import('../../commands/campaign.js').then(({ setCampaign }) =>
              setCampaign({ id, target: status, job, json }, terminal),
            ),
          ),
      )
      .example('$0 campaign set 101 PAUSED --job jobs/campaign-window.yaml', '')
      .demandCommand(1, 'Name what to do: status or set.'),
  );
