var network;
(function (network) {
    let v1;
    (function (v1) {
        /**
         * ruleArgsProvideDefaults sets the appropriate defaults for RuleArgs
         */
        function ruleArgsProvideDefaults(val) {
            var _a;
            return Object.assign(Object.assign({}, val), { priority: (_a = (val.priority)) !== null && _a !== void 0 ? _a : 100 });
        }
        v1.ruleArgsProvideDefaults = ruleArgsProvideDefaults;
    })(v1 = network.v1 || (network.v1 = {}));
})(network = exports.network || (exports.network = {}));
