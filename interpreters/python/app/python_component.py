"""The component: the module that the build tool imports, with its exports."""

import wit_world.exports

from _isopod import prepare

prepare.interpreter()


class Run(wit_world.exports.Run):
    def run(self):
        prepare.programs.run()
