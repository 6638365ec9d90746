Rule.__pulumiType = 'azure-native:network/v1:Rule';
